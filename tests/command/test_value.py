"""Which value is read from what a command printed, and what is refused because it could be misread."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from satisfice.command.value import CommandFailed, PrintedValue, read_value


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        (b"0.93\n", 0.93),
        (b"0.93", 0.93),
        (b"epoch 3/10\naccuracy: 0.93\n", 0.93),
        (b"loss=1e-3\n", 1e-3),
        (b"-2.5\n\n \n", -2.5),
        (b"5.\n", 5.0),
        (b"first 1\nlast 2\nbye\n", 2.0),
        (b"0.93\nsaved to model-2 in 3 s\n", 0.93),
        (b"accuracy 0.93\nsaved runs/2026-07-29/best-10.pt\ntook 12.5s\n", 0.93),
        (b"epoch 10, loss: 0.12, accuracy: 0.93\n", 0.93),
        (b"[99]\ttrain-rmse:0.12\teval-rmse:0.34\n", 0.34),
        (b"10/10 - 1s - loss: 0.12 - accuracy: 0.93\n", 0.93),
        (b"2026-07-29 12:30:01,250 INFO score 0.93\n", 0.93),
        (b"epoch 10 accuracy 0.93\n", 0.93),
        (b"epoch 3: 0.93\n", 0.93),
        (b"x1=0.5\n", 0.5),
        (b"f1 0.93\n", 0.93),
        (b"recall@5 0.93\n", 0.93),
        (b"loss -> 0.12\n", 0.12),
        (b"\xff\xfe\x00 0.25\n", 0.25),
        (b"\x1b[32mscore 0.75\x1b[0m\n", 0.75),
        (b"10%\r20%\rdone 7\r\n", 7.0),
        (b"0." + b"0" * 500 + b"1\n", 0.0),
        (b'{"value": 3}\n', 3.0),
        (b'9\n{"value": 1e-2, "other": 4}\n', 0.01),
        (b'{\n"value": 0.5\n}\n', 0.5),
    ],
)
def test_the_value_ends_the_last_line_that_ends_with_a_number(printed, value):
    assert read_value(printed).value == pytest.approx(value, abs=1e-300)


@pytest.mark.parametrize(
    "line",
    [
        "accuracy: 0,93",
        "accuracy=0,93",
        "0,93",
        "loss 1,234.5",
        "loss 1.234,5",
        "1.234.567",
        "loss 1'234.5",
        "loss 1_234.5",
        "loss 1 234.5",
        "loss 1\u202f234.5",
        "loss 1\u202f234,5",
        "loss \u22120.93",
        "took 12:30",
        "took=12:30",
        "elapsed: 0:12:30",
        "done, elapsed 12",
        "epoch 10, accuracy 0.93",
        "1, 0.93",
        "0.93 0.02",
        "10\t0.93",
        "accuracy 93%",
        "accuracy: 93 %",
        "Accuracy: 9913/10000 (99%)",
        "epoch 10/10",
        "0.93 \u00b1 0.02",
        "accuracy 0.93 +/- 0.02",
        "accuracy 0.93+-0.02",
        "0.93 (0.02)",
        "[0.93]",
        "tensor(0.93)",
        "{'loss': 0.12, 'epoch': 3.0}",
        "accuracy: 0.93.",
        "accuracy: 0.93,",
        '"value": "0.93"',
        "score | 0.93 |",
        "2026-07-29",
        "loss: [nan]",
    ],
)
def test_a_number_that_could_be_misread_is_a_failure_and_no_earlier_line_is_read_instead(line):
    for printed in (line, f"epoch 10\n{line}", f"epoch 10\n{line}\ndone\n"):
        with pytest.raises(CommandFailed) as caught:
            read_value(printed.encode())
        assert repr(line) in str(caught.value)  # the reason names the line, and says what to print
        assert 'print the value on a line of its own, as "value: 0.93"' in str(caught.value)
        assert '{"value": 0.93}' in str(caught.value)


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (b"", "no printed line ends with a number"),
        (b"saved to model-2\n", "no printed line ends with a number: saved to model-2"),
        (b"version v1.5\n", "no printed line ends with a number"),
        (b"loss: nan\n", "must be a finite number; got nan"),
        (b"0.5\nloss: -inf\n", "must be a finite number; got -inf"),
        (b"1e999\n", "must be a finite number; got inf"),
        (b'{"value": "3"}\n', "'value' must be a number; got \"3\""),
        (b'{"value": true}\n', "'value' must be a number; got true"),
        (b'{"value": NaN}\n', "must be a finite number; got nan"),
        (b'{"value": 1' + b"0" * 400 + b"}\n", "must be a finite number; got inf"),
        (b'{"loss": 3}\n', "has no 'value'; it has 'loss': see --value"),
        (b'0.93\n{"loss": 3}\n', "has no 'value'; it has 'loss': see --value"),
    ],
)
def test_what_holds_no_value_is_a_failure_that_says_why(printed, said):
    with pytest.raises(CommandFailed) as caught:
        read_value(printed)
    assert said in str(caught.value)


def test_a_key_names_the_entry_of_the_last_line():
    assert read_value(b'{"loss": 3, "value": 4}\n', "loss") == PrintedValue(3.0, '{"loss": 3, "value": 4}')
    with pytest.raises(CommandFailed, match="not a JSON object with 'loss'"):
        read_value(b"loss: 3\n", "loss")
    with pytest.raises(CommandFailed, match="has no 'los'; it has 'loss'"):
        read_value(b'{"loss": 3}', "los")


def test_the_line_is_told():
    assert read_value(b"epoch 1\n accuracy: 0.93 \ndone\n") == PrintedValue(0.93, "accuracy: 0.93")


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["", "value ", "value: ", "value=", "a, b: "]))
def test_every_float_that_python_prints_comes_back(number, label):
    assert read_value(f"{label}{number}\n".encode()).value == number


@given(st.binary(max_size=300), st.none() | st.text(max_size=3))
def test_any_output_gives_a_finite_value_or_a_failure(output, key):
    try:
        value = read_value(output, key).value
    except CommandFailed:
        return
    assert value - value == 0


@pytest.mark.parametrize(
    "part", ["1 ", "1, ", "1:", "1 - ", "(", "1!", "1e", " \t", "0" * 9, "=:", "%", "{", "['1'], "]
)
def test_long_lines_are_read_in_no_time(part):
    line = (part * 65_536)[:65_536]
    reasons, start = [], time.monotonic()
    for printed in (line, line + "1", line + "x 1", "1" + line):
        try:
            read_value(printed.encode())
        except CommandFailed as problem:
            reasons.append(str(problem))
    assert time.monotonic() - start < 5
    assert all(len(reason) < 1000 for reason in reasons)
