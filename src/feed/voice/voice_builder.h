#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "audio/voice/voice_mel.h"
#include "base/error.h"
#include "base/units.h"
#include "feed/voice/clip_maker.h"
#include "feed/voice/digit_strings.h"
#include "flow/watched_run.h"
#include "text/speech/front_end.h"

namespace tutti {

struct VoiceSource;

/// What a recogniser finds in clips, in their order; none: nothing is known of a clip.
using ClipTexts = std::vector<std::optional<std::string>>;
using TranscribeClips = std::function<Result<ClipTexts>(std::span<const VoiceSource* const>)>;

/// What a set of a voice is made of, and how.
struct VoiceBuildOptions {
  std::filesystem::path data{};
  std::filesystem::path out{};
  std::string speaker{};  ///< only that one's recordings; empty: all
  std::string language = "en";
  std::optional<SymbolKind> kind{};  ///< none: phonemes for English, characters for all others
  std::optional<Hertz> rate{};       ///< none: the rate that most recordings have, but 16,000 to 22,050 Hz
  std::optional<int> n_fft{};        ///< these: none: usual_voice_mel's
  std::optional<int> window{};
  std::optional<int> hop{};
  int n_mels = 80;
  ClipAudioOptions audio{};
  std::optional<double> level{};  ///< none: 0.08 for digits, else clips stay as loud as they are
  ClipLimits limits{};
  /// Where it is given, clips in which it finds other words than their text has are left out.
  TranscribeClips transcribe{};
  double most_other_words = 0.6;  ///< share of a text's words that may be others or missing, under Whisper's normaliser
  double most_missing_words = 0.2;  ///< share that may be missing alone: the clip ends or begins within its text
  DigitStringOptions strings{};
  std::filesystem::path exclude{};  ///< a text a line: none of them gets into the set
  double validation_share = 0.05;   ///< share of the different texts
  std::uint64_t seed = 1234;        ///< seed of split, strings and noise
  bool waveforms = false;           ///< keep the clips' audio beside the set, too
  std::string label{};              ///< where the audio comes from; empty: label.txt in the data, or the folder's name
  int threads = 1;
  bool dry_run = false;           ///< does everything but write
  WatchedRun* watched = nullptr;  ///< runs stages "make" and "write" of all clips and measures them; none: unmeasured
};

/// What became of the recordings.
struct VoiceBuildReport {
  VoiceMelOptions mel{};
  std::string kind{};
  std::vector<std::string> speakers{};
  bool are_digits = false;
  std::int64_t found = 0;         ///< recordings that the data lists
  std::int64_t missing = 0;       ///< without a file
  std::int64_t bad = 0;           ///< in OUT/bad_samples.jsonl, the missing included
  std::int64_t other_words = 0;   ///< of the bad ones: a recogniser finds other words than their text has
  std::int64_t wrong_speed = 0;   ///< of the bad ones: their pitch and spectrum are those of another sample rate
  std::int64_t excluded = 0;      ///< by their text
  std::int64_t listed_twice = 0;  ///< of the unusable: rows of a recording that has another row
  std::int64_t repeated = 0;      ///< clips to train on whose text a list of clips for validation has, too
  std::int64_t training = 0;      ///< clips
  std::int64_t validation = 0;
  std::int64_t frames = 0;
  std::int64_t longest_text = 0;    ///< symbols
  Seconds audio{};                  ///< length of the clips as they are in the set
  std::set<std::string> skipped{};  ///< characters that have no symbol
  Bytes size{};
  Bytes waveforms{};  ///< size of the audio beside it
};

/// Builds OUT/voice.set and OUT/bad_samples.jsonl, where requested OUT/waveforms.set. The same data and options always
/// give the same set, whatever the number of threads. `progress`: clips done and clips in all, from one thread at a
/// time; false ends it with Fault::cancelled.
///
/// Fault::usage where no clip is left, or for options that cannot be intended; Fault::missing where the data, or what
/// English is pronounced by, is not there.
Result<VoiceBuildReport> build_voice_set(const VoiceBuildOptions& options,
                                         const std::function<bool(std::int64_t, std::int64_t)>& progress);

}  // namespace tutti
