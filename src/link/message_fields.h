#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "link/messages.h"

namespace tutti {

/// Longest text a message may carry, in bytes: paths, names, log lines. The writer cuts longer ones.
inline constexpr std::uint64_t kMaxText = 1U << 16;
/// Most values a list may carry; every vocabulary fits.
inline constexpr std::uint64_t kMaxItems = 1U << 17;
/// Longest transcript of a window, in bytes.
inline constexpr std::uint64_t kMaxTranscript = 1U << 20;

template <class Value>
constexpr std::uint64_t default_limit() {
  if constexpr (std::is_same_v<Value, std::string>) return kMaxText;
  if constexpr (std::is_same_v<Value, Fault>) return static_cast<std::uint64_t>(Fault::internal);
  if constexpr (std::is_arithmetic_v<Value>) return std::numeric_limits<std::uint64_t>::max();
  return kMaxItems;
}

/// One field of a message on the wire. `limit` bounds a text's bytes, a list's length, or an enumeration's value.
template <class Message, class Value>
struct Field {
  std::string_view name;
  Value Message::*at;
  std::uint64_t limit = default_limit<Value>();
};

// Spelt out for clang 14, which cannot deduce an aggregate's arguments.
template <class Message, class Value>
Field(std::string_view, Value Message::*) -> Field<Message, Value>;
template <class Message, class Value>
Field(std::string_view, Value Message::*, std::uint64_t) -> Field<Message, Value>;

/// The fields of a message in wire order, written once: writer and reader both walk this list, so they cannot drift.
template <class Message>
struct Layout;

/// Whether a value is a message, or part of one that has fields of its own.
template <class Value>
concept HasFields = requires {
  Layout<Value>::kFields;
};

template <>
struct Layout<LoadModel> {
  static constexpr std::string_view kName = "LoadModel";
  static constexpr auto kFields =
      std::tuple(Field{"model_path", &LoadModel::model_path}, Field{"device", &LoadModel::device},
                 Field{"compute_type", &LoadModel::compute_type}, Field{"threads", &LoadModel::threads},
                 Field{"batch_size", &LoadModel::batch_size}, Field{"beams", &LoadModel::beams},
                 Field{"text_positions", &LoadModel::text_positions}, Field{"deterministic", &LoadModel::deterministic},
                 Field{"time_a_window", &LoadModel::time_a_window});
};

template <>
struct Layout<OpenWindow> {
  static constexpr std::string_view kName = "OpenWindow";
  static constexpr auto kFields =
      std::tuple(Field{"window", &OpenWindow::window}, Field{"n_mels", &OpenWindow::n_mels},
                 Field{"frames", &OpenWindow::frames}, Field{"positions", &OpenWindow::positions});
};

template <>
struct Layout<DetectLanguage> {
  static constexpr std::string_view kName = "DetectLanguage";
  static constexpr auto kFields = std::tuple(Field{"window", &DetectLanguage::window});
};

/// A field of DecodeWindow that has fields of its own.
template <>
struct Layout<DecodingOptions> {
  static constexpr std::string_view kName = "DecodingOptions";
  static constexpr auto kFields = std::apply(
      [](const auto&... fields) {
        return std::tuple(Field{fields.first, fields.second}...);
      },
      kDecodingFields);
};

template <>
struct Layout<DecodeWindow> {
  static constexpr std::string_view kName = "DecodeWindow";
  static constexpr auto kFields =
      std::tuple(Field{"window", &DecodeWindow::window}, Field{"request", &DecodeWindow::request},
                 Field{"prompt", &DecodeWindow::prompt}, Field{"sot_index", &DecodeWindow::sot_index},
                 Field{"temperature", &DecodeWindow::temperature}, Field{"max_tokens", &DecodeWindow::max_tokens},
                 Field{"decoding", &DecodeWindow::decoding});
};

template <>
struct Layout<AlignWindow> {
  static constexpr std::string_view kName = "AlignWindow";
  static constexpr auto kFields =
      std::tuple(Field{"window", &AlignWindow::window}, Field{"request", &AlignWindow::request},
                 Field{"sot_sequence", &AlignWindow::sot_sequence}, Field{"text_tokens", &AlignWindow::text_tokens},
                 Field{"frames", &AlignWindow::frames});
};

template <>
struct Layout<ReleaseWindow> {
  static constexpr std::string_view kName = "ReleaseWindow";
  static constexpr auto kFields = std::tuple(Field{"window", &ReleaseWindow::window});
};

template <>
struct Layout<Ping> {
  static constexpr std::string_view kName = "Ping";
  static constexpr auto kFields = std::tuple(Field{"sequence", &Ping::sequence});
};

template <>
struct Layout<TranscribeWindow> {
  static constexpr std::string_view kName = "TranscribeWindow";
  static constexpr auto kFields =
      std::tuple(Field{"window", &TranscribeWindow::window}, Field{"language", &TranscribeWindow::language},
                 Field{"options", &TranscribeWindow::options});
};

template <>
struct Layout<AnalyzeSpeakers> {
  static constexpr std::string_view kName = "AnalyzeSpeakers";
  static constexpr auto kFields =
      std::tuple(Field{"window", &AnalyzeSpeakers::window}, Field{"network", &AnalyzeSpeakers::network},
                 Field{"weights", &AnalyzeSpeakers::weights}, Field{"lengths", &AnalyzeSpeakers::lengths});
};

template <>
struct Layout<Hello> {
  static constexpr std::string_view kName = "Hello";
  static constexpr auto kFields =
      std::tuple(Field{"protocol", &Hello::protocol}, Field{"build_id", &Hello::build_id},
                 Field{"device_uuid", &Hello::device_uuid}, Field{"abilities", &Hello::abilities});
};

template <>
struct Layout<Ready> {
  static constexpr std::string_view kName = "Ready";
  static constexpr auto kFields =
      std::tuple(Field{"device_name", &Ready::device_name}, Field{"compute_type", &Ready::compute_type},
                 Field{"n_mels", &Ready::n_mels}, Field{"n_audio_ctx", &Ready::n_audio_ctx},
                 Field{"n_text_ctx", &Ready::n_text_ctx}, Field{"n_vocab", &Ready::n_vocab},
                 Field{"slots", &Ready::slots}, Field{"load_seconds", &Ready::load_seconds},
                 Field{"window_seconds", &Ready::window_seconds}, Field{"languages", &Ready::languages});
};

template <>
struct Layout<Opened> {
  static constexpr std::string_view kName = "Opened";
  static constexpr auto kFields =
      std::tuple(Field{"window", &Opened::window}, Field{"encode_seconds", &Opened::encode_seconds});
};

template <>
struct Layout<Language> {
  static constexpr std::string_view kName = "Language";
  static constexpr auto kFields = std::tuple(Field{"window", &Language::window}, Field{"tokens", &Language::tokens},
                                             Field{"probabilities", &Language::probabilities});
};

template <>
struct Layout<Decoded> {
  static constexpr std::string_view kName = "Decoded";
  static constexpr auto kFields =
      std::tuple(Field{"window", &Decoded::window}, Field{"request", &Decoded::request},
                 Field{"tokens", &Decoded::tokens}, Field{"sum_logprob", &Decoded::sum_logprob},
                 Field{"avg_logprob", &Decoded::avg_logprob}, Field{"no_speech_prob", &Decoded::no_speech_prob},
                 Field{"steps", &Decoded::steps}, Field{"narrow_margins", &Decoded::narrow_margins},
                 Field{"seconds", &Decoded::seconds}, Field{"shared_steps", &Decoded::shared_steps},
                 Field{"sequence_steps", &Decoded::sequence_steps}, Field{"token_logprobs", &Decoded::token_logprobs});
};

template <>
struct Layout<Aligned> {
  static constexpr std::string_view kName = "Aligned";
  static constexpr auto kFields = std::tuple(
      Field{"window", &Aligned::window}, Field{"request", &Aligned::request}, Field{"starts", &Aligned::starts},
      Field{"probabilities", &Aligned::probabilities}, Field{"seconds", &Aligned::seconds});
};

template <>
struct Layout<Transcribed> {
  static constexpr std::string_view kName = "Transcribed";
  static constexpr auto kFields =
      std::tuple(Field{"window", &Transcribed::window}, Field{"seconds", &Transcribed::seconds},
                 Field{"transcript", &Transcribed::transcript, kMaxTranscript});
};

template <>
struct Layout<SpeakersAnalyzed> {
  static constexpr std::string_view kName = "SpeakersAnalyzed";
  static constexpr auto kFields =
      std::tuple(Field{"window", &SpeakersAnalyzed::window}, Field{"seconds", &SpeakersAnalyzed::seconds},
                 Field{"values", &SpeakersAnalyzed::values});
};

template <>
struct Layout<Failed> {
  static constexpr std::string_view kName = "Failed";
  static constexpr auto kFields = std::tuple(Field{"window", &Failed::window}, Field{"request", &Failed::request},
                                             Field{"fault", &Failed::fault}, Field{"what", &Failed::what});
};

template <>
struct Layout<Pong> {
  static constexpr std::string_view kName = "Pong";
  static constexpr auto kFields = std::tuple(Field{"sequence", &Pong::sequence});
};

template <>
struct Layout<LogLine> {
  static constexpr std::string_view kName = "LogLine";
  static constexpr auto kFields = std::tuple(Field{"level", &LogLine::level, 2}, Field{"text", &LogLine::text});
};

}  // namespace tutti
