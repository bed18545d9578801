#include <algorithm>
#include <cmath>
#include <utility>

#include "base/new_file.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/source/json_fields.h"
#include "feed/source/layouts.h"
#include "text/json_bytes.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr double kRounding = 0.1;  // seconds that Lhotse's times may be off by
constexpr std::size_t kShownOfCut = 80;

Json value_at(const Json& object, const char* name) {
  const auto at = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && at != object.end() ? *at : Json();
}

double number_at(const Json& object, const char* name, double otherwise) {
  const Json value = value_at(object, name);
  return value.is_number() ? value.get<double>() : otherwise;
}

std::string string_at(const Json& object, const char* name) {
  const Json value = value_at(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

tl::unexpected<Error> unusable(const std::string& why) {
  return fail(Fault::unsupported, why,
              "Let Lhotse write it as a recording of its own: CutSet.save_audios, then CutSet.to_file");
}

/// The cuts that are a stretch of one recording with one channel, as its file holds it.
Result<void> check_cut(const Json& cut) {
  const std::string type = string_at(cut, "type");
  if (!type.empty() && type != "MonoCut") return unusable("expected a MonoCut, found a " + type);
  const Json recording = value_at(cut, "recording");
  if (!recording.is_object()) return fail(Fault::corrupt, "its cut has no recording, found " + json_names_in(cut));
  const Json sources = value_at(recording, "sources");
  std::size_t channels = 0;
  if (sources.is_array())
    for (const Json& source : sources) channels += value_at(source, "channels").size();
  if (!sources.is_array() || sources.size() != 1 || channels > 1)
    return unusable("expected a recording with one file and one channel, found " +
                    json_line(sources).substr(0, kShownOfCut));
  if (const Json transforms = value_at(recording, "transforms"); !transforms.empty())
    return unusable("its recording has transforms: " + json_line(transforms).substr(0, kShownOfCut));
  return {};
}

/// The path that the recording's source names.
Result<std::string> source_of(const Json& recording) {
  const Json source = value_at(recording, "sources").at(0);
  const std::string type = string_at(source, "type"), named = string_at(source, "source");
  if (type == "command") return file_of_command(named);
  if (type != "file" || named.empty()) return unusable("expected a recording of type file, found '" + type + "'");
  TRY(expect_no_nul(named));
  return named;
}

/// The stretch of the recording; none of one that is whole, so that it may be cut at the times of its words.
void read_span(const Json& cut, DatasetLine& line) {
  const double start = number_at(cut, "start", 0), duration = number_at(cut, "duration", 0);
  const double whole = number_at(value_at(cut, "recording"), "duration", -1);
  if (start == 0 && std::abs(whole - duration) <= kRounding) {
    line.duration = whole;
  } else {
    line.start = start;
    line.end = start + duration;
  }
}

/// [[symbol, start, duration, score], ...] of a supervision.
void append_aligned(const Json& supervision, std::vector<TimedText>& words) {
  const Json aligned = value_at(value_at(supervision, "alignment"), "word");
  for (const Json& word : aligned) {
    const bool is_word = word.is_array() && word.size() >= 3 && word[0].is_string() && word[1].is_number() &&
                         word[2].is_number() && word[2].get<double>() >= 0;
    if (!is_word || trimmed(word[0].get_ref<const std::string&>()).empty()) continue;
    const double start = word[1].get<double>();
    words.push_back({start, start + word[2].get<double>(), word[0].get<std::string>()});
  }
}

Result<void> read_supervisions(const Json& cut, DatasetLine& line) {
  std::vector<Json> supervisions;
  for (const Json& one : value_at(cut, "supervisions"))
    if (one.is_object()) supervisions.push_back(one);
  std::ranges::stable_sort(supervisions, {}, [](const Json& one) { return number_at(one, "start", 0); });
  const double length = number_at(cut, "duration", 0);
  std::vector<TimedText> spans;
  bool has_all_words = true;
  for (const Json& one : supervisions) {
    const std::string text(trimmed(string_at(one, "text")));
    if (line.speaker.empty()) line.speaker = string_at(one, "speaker");
    if (text.empty()) continue;
    const double start = number_at(one, "start", 0), end = start + number_at(one, "duration", 0);
    if (start < -kRounding || end > length + kRounding)
      return fail(Fault::corrupt, "its text reaches beyond its cut: '" + text.substr(0, kShownOfCut) + "'",
                  "Let Lhotse trim it: CutSet.trim_to_supervisions");
    line.text += (line.text.empty() ? "" : " ") + text;
    spans.push_back({std::max(start, 0.0), std::min(end, length), text});
    const std::size_t before = line.words.size();
    append_aligned(one, line.words);
    has_all_words = has_all_words && line.words.size() > before;
  }
  if (!has_all_words) line.words.clear();
  if (line.words.empty() && spans.size() > 1) line.words = std::move(spans);
  return {};
}

class LhotseCuts final : public Dataset {
 public:
  LhotseCuts(LineIndex cuts, fs::path index, std::vector<std::string> fields)
      : cuts_(std::move(cuts)), index_(std::move(index)), fields_(std::move(fields)) {}

  std::int64_t size() const override { return cuts_.size(); }
  std::uint64_t fingerprint() const override { return cuts_.fingerprint(); }
  std::string id(std::int64_t index) const override { return id_of(cut_at(index), index); }
  std::string origin(std::int64_t index) const override {
    return index_.string() + ":" + std::to_string(cuts_.number(index));
  }
  Result<DatasetLine> at(std::int64_t index) const override;
  Result<std::string> text(std::int64_t index) const override {
    DatasetLine line;
    return read_supervisions(cut_at(index), line).map([&] { return line.text; });
  }

 private:
  Json cut_at(std::int64_t index) const { return parse_json_keeping_bytes<Json>(cuts_.line(index)); }
  std::string id_of(const Json& cut, std::int64_t index) const {
    const std::string id = string_at(cut, "id");
    return id.empty() ? index_.filename().string() + ":" + std::to_string(index + 1) : id;
  }

  LineIndex cuts_;
  fs::path index_;
  std::vector<std::string> fields_;
};

Result<DatasetLine> LhotseCuts::at(std::int64_t index) const {
  const Json cut = cut_at(index);
  if (!cut.is_object()) return fail(Fault::corrupt, "its line is no JSON object");
  TRY(check_cut(cut));
  auto named = TRY(source_of(value_at(cut, "recording")));
  DatasetLine line{.id = id_of(cut, index), .named = std::move(named)};
  line.audio = path_from_above(index_.parent_path(), line.named);
  read_span(cut, line);
  TRY(read_supervisions(cut, line));
  const Json custom = value_at(cut, "custom");
  for (const std::string& name : fields_) {
    const bool is_own = !custom.is_object() || !custom.contains(name);
    line.fields.push_back(json_text_of(is_own ? cut : custom, name.c_str()));
  }
  return line;
}

}  // namespace

bool is_lhotse_cut(std::string_view line) {
  const Json object = parse_json_keeping_bytes<Json>(line);
  if (!object.is_object() || !object.contains("duration")) return false;
  return (object.contains("supervisions") && (object.contains("recording") || object.contains("features"))) ||
         string_at(object, "type").ends_with("Cut");
}

Result<std::unique_ptr<Dataset>> open_lhotse_cuts(LineIndex cuts, const fs::path& index,
                                                  std::vector<std::string> fields) {
  return std::make_unique<LhotseCuts>(std::move(cuts), index, std::move(fields));
}

}  // namespace tutti
