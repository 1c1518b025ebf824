"""The paper's own part: its problems, regrets, theory and experiments. It imports the rest of the package; nothing imports it."""
