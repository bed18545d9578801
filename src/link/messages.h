#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/units.h"
#include "link/decoding_options.h"

namespace tutti {

/// Changes with every change of a message that other engines than ours have, too: docs/engines.md describes these. Both
/// ends must have the same. Ours also has our build id, so that the other messages may change with any build.
inline constexpr std::uint32_t kProtocolVersion = 10;

/// The windows a worker knows are named by the control side. On one connection an id names another window, or the same
/// one again, only behind its ReleaseWindow: so a window is retried on a device that had no memory for it.
using WindowId = std::uint64_t;

// --- control to worker -------------------------------------------------------------------------------------------

/// Load this model and get ready. First message on a connection; answered by Ready or Failed{window 0}.
struct LoadModel {
  std::string model_path{};     // a model on disk, in any format that find_model knows
  std::string device{};         // "cpu", "cuda:0": what the worker itself calls it
  std::string compute_type{};   // "float32", "tf32", "bfloat16", "float16", "int8", "int8_float16", "auto"
  std::int32_t threads = 0;     // CPU threads for tensors; 0: one per core
  std::int32_t batch_size = 0;  // windows to step together at most; 0: what memory and device make best
  std::int32_t beams = 1;       // beams of a window, most likely: steps of so many are prepared while the model loads
  /// Tokens of prompt and text together that a slot holds, at most the model's; 0: all of them. A request that could
  /// outgrow them is refused.
  std::int32_t text_positions = 0;
  bool deterministic = false;  // fixed shapes: a window's answer is the same beside any neighbours, in any order
  bool time_a_window = false;  // find out how fast the device is with the model, before the first real window
  bool operator==(const LoadModel&) const = default;
};

/// Encode one window. Its mel travels as a sealed memfd beside the message: [n_mels, frames] float32, row-major. For an
/// engine that takes PCM (Ready::n_mels is 0) it is audio: [frames] float32, mono at 16 kHz, -1 to 1.
struct OpenWindow {
  WindowId window = 0;
  std::int32_t n_mels = 0;  // 0: PCM
  std::int32_t frames = 0;  // of mel: at most 3000, the worker pads with zeros to the model's window; of PCM: all of it
  /// Encoder positions that suffice, two frames each; 0: the model's. Fewer cost less, and the text gets worse towards
  /// its end. A worker may compute more.
  std::int32_t positions = 0;
  bool operator==(const OpenWindow&) const = default;

  std::int64_t values() const { return std::int64_t{std::max(1, n_mels)} * frames; }
  Seconds length() const { return n_mels > 0 ? Seconds(frames / kFramesPerSecond) : length_of(frames, kModelRate); }
};

/// Which language is spoken in an open window? Answered by Language.
struct DetectLanguage {
  WindowId window = 0;
  bool operator==(const DetectLanguage&) const = default;
};

/// Decode an open window once at one temperature. Token ids are the model's own. Answered by Decoded.
struct DecodeWindow {
  WindowId window = 0;
  std::uint64_t request = 0;           // echoed in the answer
  std::vector<std::int32_t> prompt{};  // everything before the first sampled token, sot_prev part included
  std::int32_t sot_index = 0;          // the index of the start-of-transcript token in `prompt`
  float temperature = 0;               // 0: beams or argmax; above: samples
  std::int32_t max_tokens = 224;       // sampled tokens at most
  DecodingOptions decoding{};
  bool operator==(const DecodeWindow&) const = default;
};

/// Requests the time of each token of a text that was decoded from an open window. Answered by Aligned.
struct AlignWindow {
  WindowId window = 0;
  std::uint64_t request = 0;                 // echoed in the answer
  std::vector<std::int32_t> sot_sequence{};  // start of transcript, language, task
  std::vector<std::int32_t> text_tokens{};   // ids below end-of-text only
  std::int32_t frames = 0;                   // mel frames of the window that hold audio
  bool operator==(const AlignWindow&) const = default;
};

/// Forget a window and free what it holds. Not answered.
struct ReleaseWindow {
  WindowId window = 0;
  bool operator==(const ReleaseWindow&) const = default;
};

/// Are you alive? Answered by Pong at once, whatever else the worker is doing.
struct Ping {
  std::uint64_t sequence = 0;
  bool operator==(const Ping&) const = default;
};

/// Transcribe an open window of PCM. Answered by Transcribed.
struct TranscribeWindow {
  WindowId window = 0;
  std::string language{};  // code; empty: the engine's to find out
  std::string options{};   // a JSON object: those of Hello::abilities that were requested, with their values
  bool operator==(const TranscribeWindow&) const = default;
};

/// Run a network that finds who speaks (docs/speakers.md). Its inputs travel, one after the other, as OpenWindow's mel:
/// float32. For "segmentation" each is PCM, [length], mono at 16 kHz, -1 to 1; for "embedding" features, [length, 80].
/// No window is opened. Answered by SpeakersAnalyzed.
struct AnalyzeSpeakers {
  WindowId window = 0;                  // a name for the request
  std::string network{};                // "segmentation" or "embedding"
  std::string weights{};                // the folder that has the networks' weights, read at first use
  std::vector<std::int32_t> lengths{};  // of the inputs; those of one length in a row are computed together
  bool operator==(const AnalyzeSpeakers&) const = default;

  std::int64_t values() const {
    std::int64_t sum = 0;
    for (const std::int32_t length : lengths) sum += length;
    return sum * (network == "embedding" ? kSpeakerFeatures : 1);
  }
  static constexpr std::int64_t kSpeakerFeatures = 80;
};

// --- worker to control -------------------------------------------------------------------------------------------

/// First message of a worker.
struct Hello {
  std::uint32_t protocol = kProtocolVersion;
  std::string build_id{};     // of another engine than ours: its name and version
  std::string device_uuid{};  // the UUID CUDA sees; empty on a CPU
  std::string abilities{};    // options that another engine takes, separated by commas: "language,beam_size"
  bool operator==(const Hello&) const = default;
};

/// The model is loaded.
struct Ready {
  std::string device_name{};
  std::string compute_type{};    // what was really taken
  std::int32_t n_mels = 0;       // 0: it takes PCM
  std::int32_t n_audio_ctx = 0;  // encoder positions; a window has twice as many mel frames
  std::int32_t n_text_ctx = 0;   // tokens of prompt and text together, at most
  std::int32_t n_vocab = 0;
  std::int32_t slots = 0;  // windows it steps together, whatever beams each has
  double load_seconds = 0;
  double window_seconds = 0;  // time of the device for a window among several; 0: not requested, or not found out
  std::string languages{};    // codes of those that another engine knows, separated by commas; empty: not reported
  bool operator==(const Ready&) const = default;
};

struct Opened {
  WindowId window = 0;
  double encode_seconds = 0;
  bool operator==(const Opened&) const = default;
};

struct Language {
  WindowId window = 0;
  std::vector<std::int32_t> tokens{};  // every language token of the model
  std::vector<float> probabilities{};  // softmax over those alone
  bool operator==(const Language&) const = default;
};

struct Decoded {
  WindowId window = 0;
  std::uint64_t request = 0;
  std::vector<std::int32_t> tokens{};  // sampled tokens without the closing end-of-text
  double sum_logprob = 0;              // sum over the sampled tokens, end-of-text included, un-tempered
  double avg_logprob = 0;              // sum_logprob / (tokens + 1)
  float no_speech_prob = 0;            // NaN where the vocabulary has no such token
  std::int32_t steps = 0;              // decoder steps it took
  std::int32_t narrow_margins = 0;     // steps at which the two best logits lay within 1e-4
  double seconds = 0;                  // its share of the worker's time: what N sequences step together takes each 1/N
  double shared_steps = 0;             // and of the worker's steps: the sum over all windows is their number
  std::int32_t sequence_steps = 0;     // steps of its samples or beams; over the worker's steps, how full these were
  /// Where they were requested: of every token, then of end-of-text if the text ended; else empty.
  std::vector<float> token_logprobs{};
  bool operator==(const Decoded&) const = default;
};

struct Aligned {
  WindowId window = 0;
  std::uint64_t request = 0;
  std::vector<std::int32_t> starts{};  // start of every text token and of the end-of-text behind it; in steps of 0.02 s
  std::vector<float> probabilities{};  // probability of every text token, among the ids below end-of-text
  double seconds = 0;
  bool operator==(const Aligned&) const = default;
};

/// A window's text, its times counted from the window's start. Read by read_transcript_json (transcript/transcript.h).
struct Transcribed {
  WindowId window = 0;
  double seconds = 0;        // its share of the engine's time
  std::string transcript{};  // JSON: {"language": "en", "segments": [{"start": 0.0, "end": 2.5, "text": " ..."}]}
  bool operator==(const Transcribed&) const = default;
};

/// What the network makes of all inputs, one after the other: of segmentation [frames, 7] log-probabilities each, of
/// embedding [192].
struct SpeakersAnalyzed {
  WindowId window = 0;
  double seconds = 0;  // of the worker's time
  std::vector<float> values{};
  bool operator==(const SpeakersAnalyzed&) const = default;
};

/// `window` (0: the worker as a whole) could not be served. Fault::exhausted: it may be tried again, smaller.
struct Failed {
  WindowId window = 0;
  std::uint64_t request = 0;
  Fault fault = Fault::internal;
  std::string what{};
  bool operator==(const Failed&) const = default;
};

struct Pong {
  std::uint64_t sequence = 0;
  bool operator==(const Pong&) const = default;
};

/// A line for the parent's log.
struct LogLine {
  std::uint8_t level = 0;
  std::string text{};
  bool operator==(const LogLine&) const = default;
};

// A message's index is its kind on the wire.
using ToWorker = std::variant<LoadModel, OpenWindow, DetectLanguage, DecodeWindow, AlignWindow, ReleaseWindow, Ping,
                              TranscribeWindow, AnalyzeSpeakers>;
using ToControl = std::variant<Hello, Ready, Opened, Language, Decoded, Aligned, Failed, Pong, LogLine, Transcribed,
                               SpeakersAnalyzed>;

}  // namespace tutti
