
#include "base/json.h"
#include "base/new_file.h"
#include "feed/source/line_index.h"
#include "feed/source/table.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

std::string text_of(const Json& object, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    const auto at = object.find(name);
    if (at == object.end()) continue;
    return at->is_string() ? at->get<std::string>() : at->is_null() ? std::string() : at->dump();
  }
  return {};
}

/// A number may be what was said, a list or a truth value cannot.
Result<void> check_said(const Json& object) {
  for (const auto& name : kTextNames) {
    const auto at = object.find(name);
    if (at == object.end()) continue;
    if (at->is_string() || at->is_number() || at->is_null()) return {};
    return fail(Fault::corrupt, name + ": expected a text, found " + at->dump().substr(0, 80));
  }
  return {};
}

Result<std::optional<double>> number_of(const Json& object, const std::vector<std::string>& names) {
  for (const auto& name : names) {
    const auto at = object.find(name);
    if (at == object.end() || at->is_null()) continue;
    if (at->is_number() && at->get<double>() >= 0) return at->get<double>();
    return fail(Fault::corrupt, name + ": expected seconds, found " + at->dump());
  }
  return std::nullopt;
}

/// "words" as transcripts have them.
Result<std::vector<TimedText>> words_of(const Json& object) {
  std::vector<TimedText> words;
  const auto at = object.find("words");
  if (at == object.end() || at->is_null()) return words;
  const auto wrong = [](const Json& found) {
    return fail(Fault::corrupt,
                R"(words: expected a list of {"word": text, "start": seconds, "end": seconds}, found )" +
                    found.dump().substr(0, 80));
  };
  if (!at->is_array()) return wrong(*at);
  for (const Json& word : *at) {
    const auto number = [&](const char* name) { return word.is_object() ? word.value(name, Json()) : Json(); };
    const Json start = number("start"), end = number("end"), text = number("word");
    if (!text.is_string() || !start.is_number() || !end.is_number() || end < start) return wrong(word);
    words.push_back({start, end, text});
  }
  return words;
}

class JsonLines final : public Dataset {
 public:
  JsonLines(LineIndex lines, std::filesystem::path index, std::vector<std::string> fields)
      : lines_(std::move(lines)), index_(std::move(index)), fields_(std::move(fields)) {}

  std::int64_t size() const override { return lines_.size(); }
  std::uint64_t fingerprint() const override { return lines_.fingerprint(); }
  std::string id(std::int64_t index) const override {
    const Json object = Json::parse(lines_.line(index), nullptr, false);
    const std::string named = object.is_object() ? text_of(object, {"id"}) : std::string();
    return named.empty() ? index_.filename().string() + ":" + std::to_string(index + 1) : named;
  }
  Result<DatasetLine> at(std::int64_t index) const override;

 private:
  LineIndex lines_;
  std::filesystem::path index_;
  std::vector<std::string> fields_;
};

Result<DatasetLine> JsonLines::at(std::int64_t index) const {
  const Json object = Json::parse(lines_.line(index), nullptr, false);
  if (!object.is_object()) return fail(Fault::corrupt, "its line is no JSON object");
  DatasetLine sample;
  const std::string audio = text_of(object, kAudioNames);
  if (audio.empty()) return fail(Fault::corrupt, "its line names no audio file");
  if (auto named = expect_no_nul(audio); !named) return tl::unexpected(named.error());
  sample.audio = index_.parent_path() / audio;
  const std::string named = text_of(object, {"id"});
  sample.id = named.empty() ? index_.filename().string() + ":" + std::to_string(index + 1) : named;
  if (auto checked = check_said(object); !checked) return tl::unexpected(checked.error());
  sample.text = text_of(object, kTextNames);
  sample.is_noise =
      text_of(object, {"sample_type"}).starts_with("noise") || object.value("is_noise_only", Json()) == true;
  const auto start = number_of(object, kStartNames), end = number_of(object, {"end"}),
             duration = number_of(object, {"duration"});
  for (const auto* read : {&start, &end, &duration})
    if (!*read) return tl::unexpected(read->error());
  set_place(sample, *start, *end, *duration);
  auto words = words_of(object);
  if (!words) return tl::unexpected(words.error());
  sample.words = std::move(*words);
  for (const auto& name : fields_) sample.fields.push_back(text_of(object, {name}));
  return sample;
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_json_lines(const std::filesystem::path& index,
                                                 const std::vector<std::string>& fields) {
  auto lines = LineIndex::open(index);
  if (!lines) return tl::unexpected(lines.error());
  return std::make_unique<JsonLines>(std::move(*lines), index, fields);
}

}  // namespace tutti
