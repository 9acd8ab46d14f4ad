"""`sampan bench speech` with the real service, on a recording whose words are known and on one where nobody speaks."""

import json
from pathlib import Path

import numpy as np
import pytest

from engines.audio import SAMPLE_RATE_HZ, Samples
from tests.support.material import spoken, write_wav
from tests.support.servers import RunningServer, sampan

pytestmark = pytest.mark.integration

SAID = "The water kettle is made of steel and costs twenty dollars today."


def recording(sound: Samples, file: Path, text: str) -> None:
    write_wav(sound, file).with_suffix(".txt").write_text(text, encoding="utf-8")


def test_recordings_are_played_scored_and_logged(service: RunningServer, tmp_path: Path) -> None:
    clips, logs = tmp_path / "clips", tmp_path / "logs"
    clips.mkdir()
    recording(spoken(SAID, tmp_path), clips / "en-kettle.wav", SAID)
    hiss = np.random.default_rng(5).normal(0, 0.01, 3 * SAMPLE_RATE_HZ).astype(np.float32)
    recording(hiss, clips / "noise.wav", "")

    where = ("--data", clips, "--server", service.url, "--logs", logs)
    ended = sampan("bench", "speech", *where, "--json", within_s=180)

    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout)
    quiet, kettle = sorted(report["clips"], key=lambda one: one["clip"] != "noise")
    assert (quiet["clip"], quiet["cues"], quiet["source"]) == ("noise", 0, "")
    assert kettle["error"]["kind"] == "WER"
    assert kettle["error"]["errors"] / kettle["error"]["length"] <= 0.25
    assert kettle["translation"]
    assert 0 < kettle["first_partial_s"] < kettle["seconds"] + 4
    assert kettle["final_source_s"] <= kettle["final_translation_s"] < 30
    assert report["summary"]["unheard"] == report["summary"]["cues_from_no_speech"] == []
    assert report["summary"]["traditional"] == 0
    lines = [json.loads(line) for line in (logs / "en-kettle.zh-Hans.jsonl").read_text().splitlines()]
    assert lines[0]["metadata"]["wav_name"] == "en-kettle"
    assert "".join(lines[-1]["generated_tokens"])


def test_a_folder_without_recordings_is_said_so(tmp_path: Path) -> None:
    ended = sampan("bench", "speech", "--data", tmp_path)
    assert ended.returncode == 1
    assert "holds no recording" in ended.stderr


def test_three_minutes_on_the_air_make_it_neither_slower_nor_bigger() -> None:
    ended = sampan("bench", "soak", "--minutes", "3", "--json", within_s=400)
    assert ended.returncode == 0, ended.stderr
    report = json.loads(ended.stdout)
    assert report["first"]["cues"] >= 5
    assert report["last"]["cues"] >= 5
    assert report["slower"] < 1.5  # the same sentences again; other processes disturb each of the minutes
    assert report["longest_silence_s"] < 30
    start, _, end = report["memory_mib"]
    assert end - start < 20
