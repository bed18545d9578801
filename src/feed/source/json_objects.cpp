#include <array>
#include <span>

#include "base/files.h"
#include "base/json.h"
#include "base/new_file.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/source/json_fields.h"
#include "feed/source/layouts.h"
#include "feed/source/line_index.h"
#include "text/byte_order_mark.h"
#include "text/json_bytes.h"
#include "text/manifest/field_names.h"
#include "text/manifest/json_scan.h"

namespace tutti {
namespace {

using Json = nlohmann::json;

/// A name; or as Hugging Face's sets have it, {"path": name, ...}.
std::string audio_of(const Json& object) {
  const Json* at = find_json_field(object, kAudioNames);
  if (at && at->is_object()) return at->value("path", Json()).is_string() ? at->at("path").get<std::string>() : "";
  return json_text_of(object, kAudioNames);
}

/// Objects with a sample each, wherever they are.
class JsonObjects : public Dataset {
 public:
  JsonObjects(std::filesystem::path index, ListRequest request, EncodingFacts encoding)
      : index_(std::move(index)), request_(std::move(request)), encoding_(encoding) {}

  std::string id(std::int64_t index) const override {
    const Json object = parse_json_keeping_bytes<Json>(object_at(index));
    return id_of(object, index);
  }
  Result<DatasetLine> at(std::int64_t index) const override;
  std::string conclusion() const override {
    if (encoding_.encoding != TextEncoding::windows_1252) return {};
    return index_.string() + ": " + read_as_windows_1252(first_other_line());
  }

 protected:
  const std::filesystem::path& path() const { return index_; }
  /// As it was; another digest where its bytes are now read as another encoding.
  std::uint64_t fingerprint_of(std::uint64_t bytes) const {
    return encoding_.encoding == TextEncoding::windows_1252 ? mixed({bytes, digest("read as Windows-1252")}) : bytes;
  }

 private:
  virtual std::int64_t first_other_line() const = 0;
  Result<void> read_content(const Json& object, DatasetLine& line) const;
  Result<void> read_names(const Json& object, DatasetLine& line) const;
  std::filesystem::path find_audio(const std::string& named) const;
  virtual std::string_view object_at(std::int64_t index) const = 0;
  std::string id_of(const Json& object, std::int64_t index) const {
    const std::string named = object.is_object() ? json_text_of(object, kIdNames) : std::string();
    return named.empty() ? index_.filename().string() + ":" + std::to_string(index + 1) : named;
  }

  std::filesystem::path index_;
  ListRequest request_;
  EncodingFacts encoding_;
};

/// Where the file is; where it should be, if there is none: reading it gives the reason.
std::filesystem::path JsonObjects::find_audio(const std::string& named) const {
  auto usual = request_.folders.base / named;
  if (is_file(usual)) return usual;
  if (auto found = find_recording(request_.folders, named)) return *found;
  if (const auto text = text_of_field(named, encoding_.encoding, "its file"); text && *text != named)
    if (auto found = find_recording(request_.folders, *text)) return *found;
  return usual;
}

Result<void> JsonObjects::read_names(const Json& object, DatasetLine& line) const {
  const auto read = [&](std::string& value, std::string field) -> Result<void> {
    value = TRY(text_of_field(field, encoding_.encoding, "its speaker or label"));
    return {};
  };
  TRY(read(line.speaker, filled_json_text(object, kSpeakerNames)));
  if (request_.content != ListContent::labels) return {};
  TRY(read(line.label, filled_json_text(object, kLabelNames)));
  TRY(read(line.part, filled_json_text(object, kPartNames)));
  std::string group = filled_json_text(object, std::array{"group", "speaker", "speaker_id"});
  if (group.empty()) group = filled_json_text(object, kGroupNames);
  return read(line.group, group.empty() ? line.speaker : group);
}

Result<void> JsonObjects::read_content(const Json& object, DatasetLine& line) const {
  if (auto checked = check_json_text(object); !checked) return checked;
  line.text = TRY(text_of_field(json_text_of(object, kTextNames), encoding_.encoding, "its text"));
  line.is_noise =
      json_text_of(object, "sample_type").starts_with("noise") || object.value("is_noise_only", Json()) == true;
  constexpr std::array kEnd{"end"};
  const auto start = TRY(json_number_of(object, kStartNames));
  const auto end = TRY(json_number_of(object, kEnd));
  const auto duration = TRY(json_number_of(object, kDurationNames));
  set_span(line, start, end, duration);
  line.words = TRY(json_words_of(object));
  return {};
}

Result<DatasetLine> JsonObjects::at(std::int64_t index) const {
  const Json object = parse_json_keeping_bytes<Json>(object_at(index));
  if (!object.is_object()) return fail(Fault::corrupt, "its line is no JSON object");
  DatasetLine sample;
  const bool has_labels = request_.content == ListContent::labels;
  sample.named = has_labels ? filled_json_text(object, kPathNames) : std::string();
  if (sample.named.empty()) sample.named = audio_of(object);
  if (sample.named.empty()) return fail(Fault::corrupt, "it names no audio file, found " + json_names_in(object));
  TRY(expect_no_nul(sample.named));
  sample.audio = find_audio(sample.named);
  sample.id = id_of(object, index);
  TRY(read_names(object, sample));
  if (!has_labels) TRY(read_content(object, sample));
  for (const auto& name : request_.fields) sample.fields.push_back(json_text_of(object, name.c_str()));
  return sample;
}

class JsonLines final : public JsonObjects {
 public:
  JsonLines(LineIndex lines, std::filesystem::path index, ListRequest request)
      : JsonObjects(std::move(index), std::move(request), {.encoding = lines.encoding()}), lines_(std::move(lines)) {}

  std::int64_t size() const override { return lines_.size(); }
  std::uint64_t fingerprint() const override { return fingerprint_of(lines_.fingerprint()); }
  std::string origin(std::int64_t index) const override {
    return path().string() + ":" + std::to_string(lines_.number(index));
  }

 private:
  std::string_view object_at(std::int64_t index) const override { return lines_.line(index); }
  std::int64_t first_other_line() const override { return lines_.first_other_line(); }

  LineIndex lines_;
};

class JsonList final : public JsonObjects {
 public:
  JsonList(std::string document, std::vector<TextSpan> elements, std::filesystem::path index, ListRequest request)
      : JsonObjects(std::move(index), std::move(request), encoding_of(document)),
        document_(std::move(document)),
        elements_(std::move(elements)) {}

  std::int64_t size() const override { return std::ssize(elements_); }
  std::uint64_t fingerprint() const override { return fingerprint_of(digest(document_)); }
  std::string origin(std::int64_t index) const override {
    return path().string() + ":" + std::to_string(line_of(document_, elements_[static_cast<std::size_t>(index)].begin));
  }

 private:
  std::int64_t first_other_line() const override {
    return static_cast<std::int64_t>(line_of(document_, encoding_of(document_).first));
  }
  std::string_view object_at(std::int64_t index) const override {
    return elements_[static_cast<std::size_t>(index)].of(document_);
  }

  std::string document_;
  std::vector<TextSpan> elements_;
};

/// The member that holds the list of a document; empty: the document is the list. None: it is an object a line.
std::optional<std::string> list_in(std::string_view document) {
  const std::string_view text = trimmed(document);
  if (text.starts_with('[')) return "";
  const std::string_view line = text.substr(0, text.find('\n'));
  const Json first = Json::parse(line, nullptr, false);
  for (const char* member : {"assets", "data"})
    if (first.is_object() ? first.value(member, Json()).is_array() : find_elements(text, member).has_value())
      return member;
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_json(const std::filesystem::path& index, ListRequest request) {
  if (ascii_lower(index.extension().string()) == ".json") {
    auto document = TRY(read_file(index));
    if (auto converted = utf8_of_utf16(document)) document = std::move(*converted);
    document = without_mark(document);
    if (const auto member = list_in(document)) {
      auto elements = find_elements(document, *member);
      if (!elements) return fail_in(index.string(), elements.error());
      return std::make_unique<JsonList>(std::move(document), std::move(*elements), index, std::move(request));
    }
  }
  auto lines = TRY(LineIndex::open(index));
  if (lines.size() > 0 && request.content == ListContent::texts && is_lhotse_cut(lines.line(0)))
    return open_lhotse_cuts(std::move(lines), index, request.fields);
  return std::make_unique<JsonLines>(std::move(lines), index, std::move(request));
}

}  // namespace tutti
