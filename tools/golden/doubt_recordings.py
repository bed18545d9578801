#!/usr/bin/env python3
"""Real recordings for the tests of doubt: what was said, where speech was heard.

Usage: doubt_recordings.py TUTTI SHARED_DATA > tests/data/transcript/doubt_recordings.json

TUTTI is the built program; its `features --vad` says where speech is, with the settings the review listens with. Texts are
the corpora's own (HiFiTTS CC-BY-4.0, LJSpeech public domain, Leopard's tests Apache-2.0); "whisper" holds what
openai-whisper wrote for the clips of whisper-tiny.en, with its own numbers and the truth beside it.
"""
import json
import pathlib
import subprocess
import sys

HEARING = ["--vad", "--vad-min-speech-duration-ms", "250", "--vad-min-silence-duration-ms", "300",
           "--vad-speech-pad-ms", "100"]


def heard(tutti, path):
    out = subprocess.run([tutti, "features", "--json", *HEARING, str(path)], check=True, capture_output=True, text=True)
    line = json.loads(out.stdout)
    spans = [[round(s["start"], 2), round(s["end"], 2)] for s in line["speech"]]
    return {"seconds": round(line["seconds"], 2), "speech": spans}


def read_clips(tutti, data):
    clips = []
    add = lambda corpus, language, path, text: clips.append(
        {"corpus": corpus, "language": language, "text": text, **heard(tutti, path)})
    for line in (data / "speech/hifitts/manifest.jsonl").read_text().splitlines():
        row = json.loads(line)
        add("hifitts", "en", data / "speech/hifitts" / row["audio_filepath"], row["text_no_preprocessing"])
    for line in (data / "speech/ljspeech/metadata.csv").read_text().splitlines():
        name, *texts = line.split("|")
        path = data / "speech/ljspeech/wavs" / f"{name}.wav"
        if path.exists():
            add("ljspeech", "en", path, texts[-1])
    tests = json.loads((data / "speech/leopard/test_data.json").read_text())["tests"]["language_tests"]
    for row in tests:
        add("leopard", row["language"], data / "speech/leopard" / row["audio_file"], row["transcript_with_punctuation"])
    return clips


def whisper_clips(tutti, data):
    truth = json.loads((data / "whisper-tiny.en/clips/texts.json").read_text())
    keys = ["seek", "start", "end", "text", "temperature", "avg_logprob", "compression_ratio", "no_speech_prob"]
    for clip in json.loads((data / "whisper-tiny.en/expected.json").read_text())["clips"]:
        name = pathlib.Path(clip["path"]).name
        rows = [{key: round(s[key], 4) if isinstance(s[key], float) else s[key] for key in keys}
                for s in clip["segments"]]
        yield {"name": name, "segments": rows, "truth": truth.get(name, {}).get("phrases", []),
               **heard(tutti, data / clip["path"])}


def main():
    tutti, data = sys.argv[1], pathlib.Path(sys.argv[2])
    json.dump({"clips": read_clips(tutti, data), "whisper": list(whisper_clips(tutti, data))}, sys.stdout,
              ensure_ascii=False, separators=(",", ":"))
    print()


if __name__ == "__main__":
    main()
