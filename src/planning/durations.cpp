#include "planning/durations.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "audio/containers/audio_length.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/try.h"
#include "text/manifest/read.h"
#include "text/manifest/recording_names.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double kLongest = 1e7;  // seconds: a recording of four months at a time is no plausible one

/// A number, or text that is one: databases export numerics as text.
std::optional<double> length_in(const Json& value) {
  double seconds = -1;
  if (value.is_number()) seconds = value.get<double>();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc() || stop != text.data() + text.size()) return {};
  }
  if (!std::isfinite(seconds) || seconds < 0 || seconds > kLongest) return {};
  return seconds;
}

Result<std::vector<double>> from_list(const Json& list, const std::string& where) {
  std::vector<double> seconds;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto length = length_in(list[i]);
    if (!length)
      return fail(Fault::corrupt,
                  where + "[" + std::to_string(i) + "]: expected a length in seconds, found " + json_line(list[i]));
    seconds.push_back(*length);
  }
  return seconds;
}

/// Neither a recording nor a list by its name: a file of JSON, or a pipe.
bool may_be_json(const std::string& input) {
  std::error_code ignored;
  if (input == "-" || !fs::exists(input, ignored) || fs::is_directory(input, ignored) || is_recording(input))
    return false;
  return manifest_format(input).value_or(ManifestFormat::json) == ManifestFormat::json;
}

/// Takes what is named, one input after the other; what `tutti batch` reads is read together, so that a file that is
/// named twice counts once.
class Gathering {
 public:
  explicit Gathering(const InputOptions& options) : options_(options) {}

  Result<void> read(const std::vector<std::string>& inputs) {
    std::vector<std::string> others;
    for (const auto& input : inputs) {
      const auto taken = TRY(document(input));
      if (!taken) others.push_back(input);
    }
    const InputSink sink{[this](Input&& input) { return take(input.entry, input.file); }, warn};
    const auto read = TRY(read_inputs(others, options_, sink));
    if (const std::string text = folder_text(read.folders); !text.empty())
      log(Level::info, "Files in folders: " + text);
    return warn_of_left_out(read);
  }

  Durations take_found() { return std::move(found_); }

 private:
  static void warn(Error&& error) { log(Level::warning, error.text()); }

  Result<void> warn_of_left_out(const ManifestTally& read) const {
    if (const std::string out = left_out_text(read, options_.rules); !out.empty())
      log(Level::info, "Left out of what the lists name: " + out);
    return {};
  }

  /// Whether the input was JSON that only a plan reads: lengths alone, or a manifest out of a pipe, which can be read
  /// but once.
  Result<bool> document(const std::string& input) {
    if (!may_be_json(input)) return false;
    const auto text = TRY(read_file(input));
    const auto lengths = TRY(plain_lengths(text, input));
    if (lengths) {
      found_.only_lengths.insert(input);
      found_.seconds.insert(found_.seconds.end(), lengths->begin(), lengths->end());
      return true;
    }
    if (manifest_format(input) || !Json::accept(text)) return false;
    const ManifestSink sink{
        [this](ManifestEntry&& entry) { return take(entry, fs::current_path() / options_.audio_root / entry.path); },
        warn};
    const auto read = TRY(read_manifest(text, ManifestFormat::json, input, options_.rules, sink));
    return warn_of_left_out(read).map([] { return true; });
  }

  bool take(const ManifestEntry& entry, const fs::path& file) {
    found_.plain = false;
    Result<std::optional<Seconds>> length = entry.duration;
    if (!entry.duration) length = audio_length(file);
    if (length && *length && (*length)->count() <= kLongest)
      found_.seconds.push_back((*length)->count());
    else if (++found_.unknown == 1)
      found_.first_unknown = length ? file.string() : length.error().what;
    return true;
  }

  const InputOptions& options_;
  Durations found_{};
};

}  // namespace

std::string Durations::left_out() const {
  if (unknown == 0) return {};
  const std::size_t all = unknown + seconds.size();
  return std::to_string(unknown) + " of " + std::to_string(all) + (all == 1 ? " recording" : " recordings") +
         (unknown == 1 ? " is left out, its" : " are left out, their") +
         " length is not known (the first: " + first_unknown + ")";
}

Result<std::optional<std::vector<double>>> plain_lengths(std::string_view json, const std::string& name) {
  const Json root = Json::parse(json, nullptr, false);
  const bool named = root.is_object() && root.contains("durations_s") && root["durations_s"].is_array();
  // A list of assets or paths has no number in it.
  const bool listed = root.is_array() && std::ranges::any_of(root, [](const Json& it) {
                        return it.is_number() || length_in(it).has_value();
                      });
  if (!named && !listed) return std::nullopt;
  auto seconds = TRY(from_list(named ? root["durations_s"] : root, named ? name + ": durations_s" : name));
  return seconds;
}

Result<Durations> read_durations(const std::vector<std::string>& inputs, const InputOptions& options) {
  Gathering gathering(options);
  TRY(gathering.read(inputs));
  Durations found = gathering.take_found();
  if (!found.seconds.empty()) return found;
  if (found.unknown > 0)
    return fail(
        Fault::missing, found.left_out(),
        "Give a list that has them, [seconds, ...] or a manifest; or " + field("audio_root") + ", where the audio is");
  return fail(Fault::missing, "no recording was found among the inputs",
              "Expected what 'tutti batch' takes, or JSON: [seconds, ...], {\"durations_s\": [...]}");
}

}  // namespace tutti
