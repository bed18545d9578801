#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json.h"
#include "transcript/like_python.h"
#include "transcript/transcript.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

constexpr double kLongestTime = 1e9;  // seconds; nothing recorded is longer

/// Python writes NaN, Infinity and -Infinity, which JSON does not know: NaN becomes null, the others strings.
std::string with_strict_numbers(std::string_view json) {
  std::string out;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view rest = json.substr(i);
    const auto swap = [&](std::string_view found, std::string_view put) {
      if (quoted || !rest.starts_with(found)) return false;
      out += put;
      i += found.size() - 1;
      return true;
    };
    if (swap("NaN", "null") || swap("-Infinity", "\"-Infinity\"") || swap("Infinity", "\"Infinity\"")) continue;
    out += json[i];
    if (quoted && json[i] == '\\' && i + 1 < json.size()) {
      out += json[++i];
    } else if (json[i] == '"') {
      quoted = !quoted;
    }
  }
  return out;
}

std::optional<double> as_number(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_null()) return std::nan("");
  if (value == "Infinity") return HUGE_VAL;
  if (value == "-Infinity") return -HUGE_VAL;
  return std::nullopt;
}

/// Takes a document apart; the first thing that is not as it should be sticks, and is reported once at the end.
class Reader {
 public:
  explicit Reader(bool may_lack_times) : may_lack_times_(may_lack_times) {}

  Transcript transcript(const Json& document) {
    Transcript out;
    if (!document.is_object()) {
      expect("the document", "an object with \"segments\"", &document);
      return out;
    }
    const Json& segments = array(document, "", "segments");
    for (std::size_t i = 0; i < segments.size(); ++i)
      out.segments.push_back(segment(segments[i], "segments[" + std::to_string(i) + "]", i));
    out.language = text_or(document, "", "language", "");
    out.text = text_or(document, "", "text", joined(out.segments));
    return out;
  }

  const std::optional<Error>& error() const { return error_; }

 private:
  /// `found`: what is there instead; none: nothing is.
  void expect(const std::string& where, const std::string& what, const Json* found) {
    if (error_) return;
    error_ = Error{Fault::corrupt, "transcript JSON, " + where + ": expected " + what + ", found " + shown(found)};
  }

  static std::string shown(const Json* found) {
    if (!found) return "nothing";
    // Only the type of what may be large or deeply nested.
    if (found->is_structured()) return std::string("an ") + found->type_name();
    const std::string text = found->dump(-1, ' ', true);
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
  }

  static const Json* find(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found == object.end() ? nullptr : &*found;
  }

  static std::string path_of(const std::string& where, const char* key) {
    return where.empty() ? key : where + "." + key;
  }

  /// The array under `key`; an error and an empty one where there is none.
  const Json& array(const Json& object, const std::string& where, const char* key) {
    static const Json empty = Json::array();
    const Json* found = find(object, key);
    if (found && found->is_array()) return *found;
    expect(path_of(where, key), "an array", found);
    return empty;
  }

  std::string text_or(const Json& object, const std::string& where, const char* key, std::string fallback) {
    const Json* found = find(object, key);
    if (!found || found->is_null()) return fallback;
    if (found->is_string()) return found->get<std::string>();
    expect(path_of(where, key), "text", found);
    return fallback;
  }

  double number_or(const Json& object, const std::string& where, const char* key, double fallback) {
    const Json* found = find(object, key);
    if (!found) return fallback;
    const auto number = as_number(*found);
    if (!number) expect(path_of(where, key), "a number", found);
    return number.value_or(fallback);
  }

  /// A time that must be there.
  double time(const Json& object, const std::string& where, const char* key) {
    const double seconds = number_or(object, where, key, std::nan(""));
    if (std::abs(seconds) < kLongestTime) return seconds;
    expect(path_of(where, key), "a time in seconds", find(object, key));
    return 0;
  }

  double segment_time(const Json& object, const std::string& where, const char* key) {
    const Json* found = find(object, key);
    const bool is_missing = !found || found->is_null() || (found->is_number() && found->get<double>() < 0);
    return may_lack_times_ && is_missing ? std::nan("") : time(object, where, key);
  }

  std::int64_t whole_or(const Json& object, const std::string& where, const char* key, std::int64_t fallback) {
    const Json* found = find(object, key);
    if (!found) return fallback;
    if (found->is_number_integer()) return found->get<std::int64_t>();
    expect(path_of(where, key), "a whole number", found);
    return fallback;
  }

  std::vector<std::int32_t> tokens(const Json& object, const std::string& where) {
    std::vector<std::int32_t> out;
    if (!object.contains("tokens")) return out;
    for (const Json& token : array(object, where, "tokens")) {
      if (!token.is_number_integer()) expect(where + ".tokens", "whole numbers", &token);
      out.push_back(token.is_number_integer() ? token.get<std::int32_t>() : 0);
    }
    return out;
  }

  Segment segment(const Json& object, const std::string& where, std::size_t index) {
    Segment out;
    if (!object.is_object()) {
      expect(where, "an object", &object);
      return out;
    }
    const Json* id = find(object, "id");  // in diarized_json a text
    out.id = static_cast<std::int64_t>(index);
    if (id && !id->is_string()) out.id = whole_or(object, where, "id", out.id);
    out.seek = whole_or(object, where, "seek", 0);
    out.start = segment_time(object, where, "start");
    out.end = segment_time(object, where, "end");
    if (!object.contains("text")) expect(where + ".text", "text", nullptr);
    out.text = text_or(object, where, "text", "");
    out.speaker = speaker(object);
    out.tokens = tokens(object, where);
    out.temperature = number_or(object, where, "temperature", 0);
    out.avg_logprob = number_or(object, where, "avg_logprob", 0);
    out.compression_ratio = number_or(object, where, "compression_ratio", 0);
    out.no_speech_prob = number_or(object, where, "no_speech_prob", 0);
    if (object.contains("words") && !object["words"].is_null()) out.words = words(object, where, out);
    return out;
  }

  /// A name, or a number as some programs have it.
  static std::string speaker(const Json& object) {
    const Json* found = find(object, "speaker");
    if (!found || (!found->is_string() && !found->is_number())) return {};
    std::string name(strip(found->is_string() ? found->get<std::string>() : found->dump()));
    std::ranges::replace_if(
        name, [](char c) { return c == '\n' || c == '\r'; }, ' ');  // no line of a cue may be empty
    return name;
  }

  /// A word without times (whisperX, where a word could not be aligned) is at the end of the one before.
  std::vector<Word> words(const Json& object, const std::string& where, const Segment& segment) {
    std::vector<Word> out;
    const Json& list = array(object, where, "words");
    double last = std::isnan(segment.start) ? 0 : segment.start;
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string here = where + ".words[" + std::to_string(i) + "]";
      if (!list[i].is_object() || !list[i].contains("word")) {
        expect(here, "an object with \"word\"", &list[i]);
        return out;
      }
      Word word{.word = text_or(list[i], here, "word", "")};
      word.start = list[i].contains("start") ? time(list[i], here, "start") : last;
      word.end = list[i].contains("end") ? time(list[i], here, "end") : word.start;
      word.probability = number_or(list[i], here, list[i].contains("probability") ? "probability" : "score", 0);
      last = word.end;
      out.push_back(std::move(word));
    }
    take_spaces(segment.text, out);
    return out;
  }

  /// Gives words that were written without it (whisperX) the whitespace before them in the text.
  static void take_spaces(std::string_view text, std::vector<Word>& words) {
    for (Word& word : words) {
      const std::size_t at = text.find(word.word);
      if (at == std::string_view::npos || at != leading_space(text.substr(0, at)).size()) return;
      const std::size_t end = at + word.word.size();
      word.word = text.substr(0, end);
      text.remove_prefix(end);
    }
  }

  static std::string joined(const std::vector<Segment>& segments) {
    std::string text;
    for (const Segment& segment : segments) {
      if (!text.empty() && leading_space(segment.text).empty()) text += " ";
      text += segment.text;
    }
    return text;
  }

  const bool may_lack_times_;
  std::optional<Error> error_;
};

/// Its text without the library's own number in front, "[json.exception.parse_error.101] ".
std::string for_people(const Json::exception& broken) {
  const std::string_view text = broken.what();
  const auto end = text.find("] ");
  return std::string(text.starts_with('[') && end != text.npos ? text.substr(end + 2) : text);
}

Result<Transcript> read_document(std::string_view json, bool may_lack_times) {
  Json document;
  try {
    document = Json::parse(with_strict_numbers(json));
  } catch (const Json::exception& broken) {
    return fail(Fault::corrupt, "transcript JSON: " + for_people(broken));
  }
  Reader reader(may_lack_times);
  Transcript transcript = reader.transcript(document);
  if (reader.error()) return tl::unexpected(*reader.error());
  return transcript;
}

}  // namespace

Result<Transcript> read_transcript_json(std::string_view json) {
  return read_document(json, false);
}

Result<Transcript> read_untidy_transcript_json(std::string_view json) {
  return read_document(json, true);
}

}  // namespace tutti
