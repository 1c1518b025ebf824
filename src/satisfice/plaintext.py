"""Texts of others in a terminal."""

import unicodedata


def plain(text: object, keep: str = "") -> str:
    """Return the text with everything replaced that could steer the terminal.

    Parameters
    ----------
    text
        Any text.
    keep
        Control characters to keep.

    Returns
    -------
    str
        The text with U+FFFD in the place of control characters.
    """
    return "".join(
        "\ufffd" if unicodedata.category(each) in ("Cc", "Cf", "Cs") and each not in keep else each
        for each in str(text)
    )
