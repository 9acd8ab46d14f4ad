"""Translation scored on FLORES-200's first lines by `sampan eval mt`: no worse than it was, in the right script."""

import json
from pathlib import Path

import msgspec
import pytest

from app.cli.eval import Report
from tests.support.material import recordings
from tests.support.servers import sampan

pytestmark = [pytest.mark.quality, pytest.mark.recordings]

LINES = 60
# BLEU and chrF of the default model on these lines, less a margin: another machine rounds otherwise.
BARS = {"zh-en": (18.0, 48.5), "en-zh": (29.0, 27.0), "id-en": (23.0, 52.0), "vi-en": (17.0, 45.5)}


@pytest.mark.parametrize("pair", BARS)
def test_the_default_model_translates_as_well_as_it_did(pair: str) -> None:
    file: Path = recordings("parallel") / f"flores-{pair}.jsonl"
    done = sampan("eval", "mt", "--data", str(file), "--pair", pair, "--limit", str(LINES), "--json")
    assert done.returncode == 0, done.stderr
    report = msgspec.convert(json.loads(done.stdout), Report)
    print(
        f"{pair}: BLEU {report.scores.bleu:.1f} chrF {report.scores.chrf:.1f}, {report.tokens_per_second:.0f} tokens/s"
    )
    bleu, chrf = BARS[pair]
    assert report.scores.bleu >= bleu
    assert report.scores.chrf >= chrf
    assert (report.scores.wrong_script, report.scores.empty) == (0.0, 0.0)
