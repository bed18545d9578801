#!/usr/bin/env python3
"""A set as field note 003's builder writes it, by h5py, for tests/feed/note_set_test.cpp.

Usage: note_set.py FILE.H5 (tests/data/train/NOTE_SET.H5). Names, shapes, types and attributes are the note's; feature
[file, long, short, mel] is (file + long / 64 + short / 2 + mel / 1024), so that the test repeats it.
"""
import json
import sys

import h5py
import numpy as np

FILES, LONGS, SHORTS, MELS, FRAMES = 3, 1, 2, 16, 1  # a quarter of a second each and few mels: the file is small
LABELS = ["BACKGROUND", "LEAK", "NORMAL"]
CONFIG = {"sample_rate": 4096, "duration_sec": 0.25, "long_window": 1024, "short_window": 512, "n_mels": MELS, "n_fft": 512,
          "hop_length": 128, "power": 1.0, "long_scale_sec": 0.25, "short_points": 512, "center": False}


def main():
    file, long, short, mel = np.ogrid[:FILES, :LONGS, :SHORTS, :MELS]
    features = (file + long / 64 + short / 2 + mel / 1024).astype(np.float16)[..., None]
    with h5py.File(sys.argv[1], "w") as out:
        out.create_dataset("segments_mel", data=features)
        out.create_dataset("labels", data=np.array([0, 1, 2, 1], dtype=np.int16)[:FILES])
        out.attrs["config_json"] = json.dumps(CONFIG)
        out.attrs["cnn_config_json"] = json.dumps({"n_mels": MELS, "t_frames": FRAMES})
        out.attrs["labels_json"] = json.dumps(LABELS)
        out.attrs["label2id_json"] = json.dumps({name: place for place, name in enumerate(LABELS)})
        out.attrs["created_at_utc"] = "2025-11-19T00:00:00Z"


if __name__ == "__main__":
    main()
