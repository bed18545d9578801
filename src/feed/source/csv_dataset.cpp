#include "feed/source/csv_dataset.h"

#include <algorithm>
#include <optional>
#include <span>

#include "base/new_file.h"
#include "base/strings.h"
#include "feed/feature_cache.h"
#include "text/byte_order_mark.h"
#include "text/manifest/csv.h"
#include "text/manifest/field_names.h"
#include "text/utf8.h"

namespace tutti {
namespace {

/// Whether the quote that begins a field begins a quoted one: it is closed where a field ends, or at least in its line.
/// An unclosed one is a character as any other, and must not swallow the lines behind it.
bool opens_quoted(std::string_view text, std::size_t at, char separator) {
  for (std::size_t end = text.find('"', at + 1); end != std::string_view::npos; end = text.find('"', end + 2)) {
    const char next = end + 1 < text.size() ? text[end + 1] : '\n';
    if (next == '"') continue;  // doubled: it means one
    if (next == separator || next == '\n' || next == '\r') return true;
    return text.substr(at, end - at).find('\n') == std::string_view::npos;
  }
  return false;
}

}  // namespace

std::vector<std::string> separated_fields(std::string_view line, char separator) {
  std::vector<std::string> fields(1);
  bool is_inside = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"' && is_inside && at + 1 < line.size() && line[at + 1] == '"') {
      fields.back() += '"';
      ++at;
    } else if (c == '"' && (is_inside || (fields.back().empty() && opens_quoted(line, at, separator)))) {
      is_inside = !is_inside;
    } else if (c == separator && !is_inside) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::size_t separated_line_end(std::string_view text, std::size_t at, char separator) {
  bool is_inside = false, is_field_start = true;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && is_inside && at + 1 < text.size() && text[at + 1] == '"')
      ++at;
    else if (c == '"' && (is_inside || (is_field_start && opens_quoted(text, at, separator))))
      is_inside = !is_inside;
    else if (c == '\n' && !is_inside)
      return at;
    is_field_start = c == separator && !is_inside;
  }
  return text.size();
}

namespace {

constexpr std::int64_t kStride = 16;

}  // namespace

Result<LineIndex> LineIndex::open(const std::filesystem::path& path, std::optional<char> separator) {
  auto file = MappedFile::open(path);
  if (!file) return tl::unexpected(file.error());
  LineIndex index(std::move(*file), separator);
  if (auto converted = utf8_of_utf16(index.file_.text()))
    index.converted_ = std::make_unique<const std::string>(std::move(*converted));
  if (index.text().find('"') == std::string_view::npos) index.separator_.reset();
  index.build();
  index.fingerprint_ = checksum(index.file_.bytes());
  return index;
}

void LineIndex::build() {
  const std::string_view text = this->text();
  std::size_t at = next_start(text.size() - without_mark(text).size());
  for (; at < text.size(); at = next_start(end_of(at))) {
    if (size_ % kStride == 0) starts_.push_back(at);
    ++size_;
  }
}

std::size_t LineIndex::end_of(std::size_t at) const {
  const std::string_view text = this->text();
  return separator_ ? separated_line_end(text, at, *separator_) : std::min(text.find('\n', at), text.size());
}

std::size_t LineIndex::next_start(std::size_t at) const {
  const std::string_view text = this->text();
  while (at < text.size() && (text[at] == '\n' || text[at] == '\r')) ++at;
  return at;
}

std::string_view LineIndex::line(std::int64_t index) const {
  index += skipped_;
  std::size_t at = starts_[static_cast<std::size_t>(index / kStride)];
  for (std::int64_t i = 0; i < index % kStride; ++i) at = next_start(end_of(at));
  std::string_view line = text().substr(at, end_of(at) - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

namespace {

using Names = std::vector<std::string>;

/// Which column holds what; -1: none does.
struct Columns {
  int id = -1, audio = -1, text = -1, start = -1, end = -1, duration = -1, kind = -1, noise_only = -1;
  std::vector<int> fields{};
};

Columns columns_of(const Names& header, const Names& fields) {
  const auto named = [&](const char* name) { return column_of(header, {&name, 1}); };
  Columns columns{.id = column_of(header, kIdNames),
                  .audio = column_of(header, kAudioNames),
                  .text = column_of(header, kTextNames),
                  .start = column_of(header, kStartNames),
                  .end = named("end"),
                  .duration = column_of(header, kDurationNames),
                  .kind = named("sample_type"),
                  .noise_only = named("is_noise_only")};
  for (const auto& name : fields) columns.fields.push_back(named(name.c_str()));
  return columns;
}

class Table final : public Dataset {
 public:
  Table(LineIndex lines, char separator, Columns columns, TableFolders folders, std::string name)
      : lines_(std::move(lines)),
        separator_(separator),
        columns_(std::move(columns)),
        folders_(std::move(folders)),
        name_(std::move(name)) {}

  std::int64_t size() const override { return lines_.size(); }
  std::uint64_t fingerprint() const override { return lines_.fingerprint(); }
  std::string id(std::int64_t index) const override {
    const std::string named = value(separated_fields(lines_.line(index), separator_), columns_.id);
    return named.empty() ? name_ + ":" + std::to_string(index + 2) : named;  // the header is line 1
  }
  Result<DatasetLine> at(std::int64_t index) const override;

 private:
  static std::string value(const Names& row, int column) {
    return column >= 0 && column < std::ssize(row) ? row[static_cast<std::size_t>(column)] : std::string();
  }
  Result<std::optional<double>> number(const Names& row, int column, const char* name) const;
  std::filesystem::path audio_of(const std::string& named) const;

  LineIndex lines_;
  char separator_;
  Columns columns_;
  TableFolders folders_;
  std::string name_;
};

Result<std::optional<double>> Table::number(const Names& row, int column, const char* name) const {
  const std::string text = value(row, column);
  if (trimmed(text).empty()) return std::nullopt;
  if (const auto seconds = seconds_in_field(separator_ == ',' ? text : with_decimal_point(trimmed(text))))
    return seconds;
  return fail(Fault::corrupt, std::string(name) + ": expected seconds, found '" + text + "'");
}

std::filesystem::path Table::audio_of(const std::string& named) const {
  const std::filesystem::path path(named);
  if (path.has_parent_path() || folders_.audio.empty()) return folders_.base / path;
  if (!folders_.usual_ending.empty() && !path.has_extension()) return folders_.audio / (named + folders_.usual_ending);
  return folders_.audio / path;
}

Result<DatasetLine> Table::at(std::int64_t index) const {
  const Names row = separated_fields(lines_.line(index), separator_);
  DatasetLine sample;
  const std::string audio = value(row, columns_.audio);
  if (audio.empty()) return fail(Fault::corrupt, "its line names no audio file");
  if (auto named = expect_no_nul(audio); !named) return tl::unexpected(named.error());
  sample.audio = audio_of(audio);
  const std::string named = value(row, columns_.id);
  sample.id = named.empty() ? name_ + ":" + std::to_string(index + 2) : named;
  sample.text = value(row, columns_.text);
  const std::string noise_only = value(row, columns_.noise_only);
  sample.is_noise = value(row, columns_.kind).starts_with("noise") || noise_only == "True" || noise_only == "true";
  const auto start = number(row, columns_.start, "start"), end = number(row, columns_.end, "end"),
             duration = number(row, columns_.duration, "duration");
  for (const auto* read : {&start, &end, &duration})
    if (!*read) return tl::unexpected(read->error());
  set_span(sample, *start, *end, *duration);
  for (const int column : columns_.fields) sample.fields.push_back(value(row, column));
  if (!folders_.transcripts.empty()) sample.times = folders_.transcripts / (sample.id + ".json");
  return sample;
}

}  // namespace

void set_span(DatasetLine& line, std::optional<double> start, std::optional<double> end,
              std::optional<double> duration) {
  line.start = start;
  line.end = start && !end && duration ? *start + *duration : end;
  if (!start && !end) line.duration = duration;
}

int column_of(const Names& header, std::span<const char* const> names) {
  for (const char* name : names)
    for (std::size_t i = 0; i < header.size(); ++i)
      if (header[i] == name || plain_field_name(header[i]) == name) return static_cast<int>(i);
  return -1;
}

Result<std::unique_ptr<Dataset>> open_table(const std::filesystem::path& index, char separator, TableFolders folders,
                                            const Names& fields) {
  auto lines = LineIndex::open(index, separator);
  if (!lines) return tl::unexpected(lines.error());
  if (lines->size() == 0) return fail(Fault::corrupt, index.string() + ": is empty; expected a header line");
  const Names header = separated_fields(lines->line(0), separator);
  const Columns columns = columns_of(header, fields);
  const bool lacks = columns.audio < 0 || columns.text < 0;
  if (lacks && !is_utf8(lines->line(0)))
    return fail(Fault::corrupt, index.string() + ": expected UTF-8, found other bytes in its header line",
                "Convert it, for example with iconv -f utf-16 -t utf-8");
  if (lacks)
    return fail(Fault::corrupt,
                index.string() + ": its header names no " + (columns.audio < 0 ? "audio" : "text") + " column, found " +
                    quoted_names(header),
                "Name them audio and text; docs/feed.md lists the other names that are understood");
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (columns.fields[i] < 0)
      return fail(Fault::usage, index.string() + ": has no column '" + fields[i] + "', found " + quoted_names(header));
  lines->skip_first();
  return std::make_unique<Table>(std::move(*lines), separator, columns, std::move(folders), index.filename().string());
}

}  // namespace tutti
