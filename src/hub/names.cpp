#include "hub/names.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings.h"

namespace tutti {
namespace {

struct Known {
  std::string_view word;
  std::string_view repo;
  std::string_view openai;
  std::string_view faster_whisper;
};

// Short names are openai-whisper's and distil-whisper's (the last column: faster_whisper/utils.py);
// "openai/whisper-large" is the first large model.
constexpr std::array kKnown{
    Known{"tiny.en", "openai/whisper-tiny.en", "tiny.en", "Systran/faster-whisper-tiny.en"},
    Known{"tiny", "openai/whisper-tiny", "tiny", "Systran/faster-whisper-tiny"},
    Known{"base.en", "openai/whisper-base.en", "base.en", "Systran/faster-whisper-base.en"},
    Known{"base", "openai/whisper-base", "base", "Systran/faster-whisper-base"},
    Known{"small.en", "openai/whisper-small.en", "small.en", "Systran/faster-whisper-small.en"},
    Known{"small", "openai/whisper-small", "small", "Systran/faster-whisper-small"},
    Known{"medium.en", "openai/whisper-medium.en", "medium.en", "Systran/faster-whisper-medium.en"},
    Known{"medium", "openai/whisper-medium", "medium", "Systran/faster-whisper-medium"},
    Known{"large-v1", "openai/whisper-large", "large-v1", "Systran/faster-whisper-large-v1"},
    Known{"large-v2", "openai/whisper-large-v2", "large-v2", "Systran/faster-whisper-large-v2"},
    Known{"large-v3", "openai/whisper-large-v3", "large-v3", "Systran/faster-whisper-large-v3"},
    Known{"large", "openai/whisper-large-v3", "large-v3", "Systran/faster-whisper-large-v3"},
    Known{"large-v3-turbo", "openai/whisper-large-v3-turbo", "large-v3-turbo",
          "mobiuslabsgmbh/faster-whisper-large-v3-turbo"},
    Known{"turbo", "openai/whisper-large-v3-turbo", "large-v3-turbo", "mobiuslabsgmbh/faster-whisper-large-v3-turbo"},
    Known{"distil-small.en", "distil-whisper/distil-small.en", "", "Systran/faster-distil-whisper-small.en"},
    Known{"distil-medium.en", "distil-whisper/distil-medium.en", "", "Systran/faster-distil-whisper-medium.en"},
    Known{"distil-large-v2", "distil-whisper/distil-large-v2", "", "Systran/faster-distil-whisper-large-v2"},
    Known{"distil-large-v3", "distil-whisper/distil-large-v3", "", "Systran/faster-distil-whisper-large-v3"},
    Known{"distil-large-v3.5", "distil-whisper/distil-large-v3.5", "", "distil-whisper/distil-large-v3.5-ct2"},
};

bool is_name_part(std::string_view part) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_';
  };
  return !part.empty() && part != "." && part != ".." && std::ranges::all_of(part, fits);
}

}  // namespace

Result<ModelName> resolve_name(std::string_view word) {
  std::string_view bare = word;
  if (bare.starts_with("whisper-")) bare.remove_prefix(8);
  for (const auto& known : kKnown)
    if (bare == known.word || word == known.repo)
      return ModelName{.repo = std::string(known.repo),
                       .openai = std::string(known.openai),
                       .faster_whisper = std::string(known.faster_whisper)};

  const auto slash = word.find('/');
  if (slash != word.npos && is_name_part(word.substr(0, slash)) && is_name_part(word.substr(slash + 1)))
    return ModelName{.repo = std::string(word)};
  return fail(Fault::usage,
              "'" + std::string(word) + "' is neither a path that exists nor a model's name (such as tiny.en or " +
                  "organisation/name)",
              "Names close to it: " + joined(nearest_names(word), ", "));
}

std::vector<std::string> nearest_names(std::string_view word) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  for (const auto& known : kKnown) {
    const std::string_view like = word.find('/') == word.npos ? known.word : known.repo;
    ranked.emplace_back(edits_between(word, like), like);
  }
  std::ranges::sort(ranked);
  std::vector<std::string> names;
  for (auto& [_, name] : ranked) {
    if (names.size() == 3) break;
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

std::string folder_name(std::string_view repo) {
  std::string name(repo);
  if (const auto slash = name.find('/'); slash != name.npos) name.replace(slash, 1, "--");
  return name;
}

}  // namespace tutti
