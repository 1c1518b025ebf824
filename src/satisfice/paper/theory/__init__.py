"""The paper's theory as code: information gain, confidence widths, regret bounds, functions of known norm."""
