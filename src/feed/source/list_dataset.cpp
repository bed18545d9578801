#include <algorithm>
#include <optional>
#include <span>

#include "base/new_file.h"
#include "base/random/counter_random.h"
#include "base/strings.h"
#include "base/try.h"
#include "feed/source/column_guess.h"
#include "feed/source/layouts.h"
#include "feed/source/line_index.h"
#include "feed/stages/audio_files.h"
#include "text/manifest/csv.h"
#include "text/manifest/field_names.h"
#include "text/utf8.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

/// How the rows of a list are parted.
struct RowStyle {
  char separator = ',';
  bool is_quoted = true;  ///< quotes around fields are none of their characters
  bool is_loose = false;  ///< quoted, and a separator too many is the text's

  Names fields_of(std::string_view line) const {
    return is_quoted ? separated_fields(line, separator) : unquoted_fields(line, separator);
  }
};

std::string value_of(const Names& row, int column) {
  return column >= 0 && column < std::ssize(row) ? row[static_cast<std::size_t>(column)] : std::string();
}

/// The first of the columns that is filled, without blanks around it.
std::string first_of(const Names& row, const std::vector<int>& columns) {
  for (const int column : columns) {
    const std::string value = value_of(row, column);
    if (!trimmed(value).empty()) return std::string(trimmed(value));
  }
  return {};
}

class RowList final : public Dataset {
 public:
  RowList(LineIndex lines, RowStyle style, ListColumns columns, ListRequest request, fs::path path)
      : lines_(std::move(lines)),
        style_(style),
        columns_(std::move(columns)),
        request_(std::move(request)),
        path_(std::move(path)) {}

  std::int64_t size() const override { return lines_.size(); }
  std::uint64_t fingerprint() const override {
    // A list that is read by more than its names has another content than the same bytes had once.
    const bool is_plain =
        columns_.conclusion.empty() && lines_.encoding() == TextEncoding::utf8 && !lines_.has_lone_cr();
    return is_plain ? lines_.fingerprint() : mixed({lines_.fingerprint(), digest("read by its content")});
  }
  std::string id(std::int64_t index) const override { return id_of(style_.fields_of(lines_.line(index)), index); }
  std::string origin(std::int64_t index) const override {
    return path_.string() + ":" + std::to_string(lines_.number(index));
  }
  std::string conclusion() const override;
  std::vector<std::string> unread() const override { return columns_.unread; }
  Result<DatasetLine> at(std::int64_t index) const override;
  Result<std::string> text(std::int64_t index) const override;

 private:
  std::string id_of(const Names& row, std::int64_t index) const {
    const std::string named = value_of(row, columns_.id);
    const bool is_file_too = !columns_.audio.empty() && columns_.id == columns_.audio.front();
    if (!named.empty()) return is_file_too ? std::string(trimmed(named)) : named;
    return path_.filename().string() + ":" + std::to_string(index + 2);  // the header is line 1
  }
  /// The error with the line in front, where a list is read for texts; lists of labels have it all in front.
  tl::unexpected<Error> in_its_line(Error error, std::int64_t index) const {
    if (request_.content == ListContent::labels) return tl::unexpected<Error>(std::move(error));
    return fail_in(path_.filename().string() + ":" + std::to_string(lines_.number(index)), std::move(error));
  }
  /// The row with as many fields as the list has columns; separators too many are its text's.
  Names fitted(Names row) const;
  Result<void> check_width(const Names& row, std::string_view line) const;
  Result<fs::path> find_audio(const std::string& named) const;
  Result<void> read_text(const Names& row, std::int64_t index, DatasetLine& line) const;
  Result<void> read_times(const Names& row, DatasetLine& line) const;
  Result<std::optional<double>> number(const Names& row, int column, const char* name) const;

  LineIndex lines_;
  RowStyle style_;
  ListColumns columns_;
  ListRequest request_;
  fs::path path_;
};

std::string RowList::conclusion() const {
  std::vector<std::string> parts;
  if (!columns_.conclusion.empty())
    parts.push_back(columns_.conclusion + ". Where that is wrong, name the columns in a first line");
  if (lines_.encoding() == TextEncoding::windows_1252) parts.push_back(read_as_windows_1252(lines_.first_other_line()));
  return parts.empty() ? std::string() : path_.string() + ": " + joined(parts, ". ");
}

Names RowList::fitted(Names row) const {
  const auto width = static_cast<std::size_t>(columns_.width);
  const bool may_have_more = !style_.is_quoted || style_.is_loose;
  if (!may_have_more || columns_.text < 0 || width < 2 || row.size() <= width) return row;
  const auto text = static_cast<std::size_t>(columns_.text), extra = row.size() - width;
  const std::string last = row.back();
  const auto within = std::span(row).subspan(text, extra + 1);
  // some rows of a list with bars have their normalised text in one more column
  if (text + 1 == width && !style_.is_loose) {
    const std::string before = joined(within.first(extra), std::string_view(&style_.separator, 1));
    if (share_a_word(before, last)) {
      row[text] = last;
      row.resize(width);
      return row;
    }
  }
  row[text] = joined(within, std::string_view(&style_.separator, 1));
  row.erase(row.begin() + static_cast<std::ptrdiff_t>(text) + 1,
            row.begin() + static_cast<std::ptrdiff_t>(text + extra) + 1);
  return row;
}

Result<void> RowList::check_width(const Names& row, std::string_view line) const {
  if (style_.is_quoted ||
      std::ssize(row) > std::max({columns_.text, columns_.label.empty() ? 0 : columns_.label.front(), 1}))
    return {};
  constexpr std::size_t kShown = 120;
  return fail(Fault::corrupt, (columns_.text == 1 ? std::string("expected id|text or id|text|normalised text")
                                                  : "expected " + std::to_string(columns_.width) + " fields") +
                                  ", found '" + replace_invalid_utf8(std::string(line.substr(0, kShown))) + "'");
}

Result<fs::path> RowList::find_audio(const std::string& named) const {
  TRY(expect_no_nul(named));
  const fs::path usual = usual_path(request_.folders, named);
  if (style_.is_quoted && is_file(usual)) return usual;
  if (auto found = find_recording(request_.folders, named)) return *found;
  if (const auto text = text_of_field(named, lines_.encoding(), "its file"); text && *text != named)
    if (auto found = find_recording(request_.folders, *text)) return *found;
  if (style_.is_quoted || request_.content == ListContent::labels) return usual;  // reading it gives the reason
  return fail(Fault::missing, usual.string() + ": no recording of this name, with .wav, .flac or another known ending",
              "Put it there, or take its line out of the list");
}

Result<std::optional<double>> RowList::number(const Names& row, int column, const char* name) const {
  const std::string text = value_of(row, column);
  if (trimmed(text).empty()) return std::nullopt;
  if (const auto seconds = seconds_in_field(style_.separator == ',' ? text : with_decimal_point(trimmed(text))))
    return seconds;
  return fail(Fault::corrupt, std::string(name) + ": expected seconds, found '" + text + "'");
}

Result<void> RowList::read_times(const Names& row, DatasetLine& line) const {
  const auto start = TRY(number(row, columns_.start, "start"));
  const auto end = TRY(number(row, columns_.end, "end"));
  const auto duration = TRY(number(row, columns_.duration, "duration"));
  set_span(line, start, end, duration);
  return {};
}

Result<void> RowList::read_text(const Names& row, std::int64_t index, DatasetLine& line) const {
  std::string raw = value_of(row, columns_.normalised);
  if (trimmed(raw).empty()) raw = value_of(row, columns_.text);
  auto text = text_of_field(raw, lines_.encoding(), "its text");
  if (!text) return in_its_line(text.error(), index);
  const std::string audio = value_of(row, columns_.audio.front());
  const bool has_blanks = trimmed(audio).size() != audio.size();  // around all separators of the row
  line.text = has_blanks ? std::string(trimmed(*text)) : std::move(*text);
  const std::string noise_only = value_of(row, columns_.noise_only);
  line.is_noise = value_of(row, columns_.kind).starts_with("noise") || noise_only == "True" || noise_only == "true";
  return read_times(row, line);
}

Result<DatasetLine> RowList::at(std::int64_t index) const {
  const std::string_view whole = lines_.line(index);
  const Names row = fitted(style_.fields_of(whole));
  TRY(check_width(row, whole));
  DatasetLine line{.id = id_of(row, index), .named = first_of(row, columns_.audio)};
  if (line.named.empty()) return fail(Fault::corrupt, "its line names no audio file");
  line.audio = TRY(find_audio(line.named));
  for (auto [value, columns] : {std::pair(&line.speaker, &columns_.speaker),
                                {&line.label, &columns_.label},
                                {&line.group, &columns_.group},
                                {&line.part, &columns_.part}}) {
    auto text = text_of_field(first_of(row, *columns), lines_.encoding(), "its speaker or label");
    if (!text) return in_its_line(text.error(), index);
    *value = std::move(*text);
  }
  if (request_.content == ListContent::texts) TRY(read_text(row, index, line));
  for (const int column : columns_.fields) line.fields.push_back(value_of(row, column));
  if (!request_.transcripts.empty()) line.times = request_.transcripts / (line.id + ".json");
  return line;
}

Result<std::string> RowList::text(std::int64_t index) const {
  const std::string_view whole = lines_.line(index);
  const Names row = fitted(style_.fields_of(whole));
  DatasetLine line;
  auto read = check_width(row, whole);
  if (read) read = read_text(row, index, line);
  TRY(read);
  return std::move(line.text);
}

/// Fields as far as they can be read, for conclusions.
Names readable(Names fields, TextEncoding encoding) {
  for (auto& field : fields) field = text_of_field(field, encoding, "it").value_or(replace_invalid_utf8(field));
  return fields;
}

/// Rows spread over the whole list.
ListRows some_rows(const LineIndex& lines, const RowStyle& style, const RecordingFolders& folders) {
  constexpr std::int64_t kMost = 1000;
  ListRows some;
  const std::int64_t step = std::max<std::int64_t>(1, lines.size() / kMost);
  for (std::int64_t i = 0; i < lines.size(); i += step)
    some.rows.push_back(readable(style.fields_of(lines.line(i)), lines.encoding()));
  some.seconds_of = [folders](const std::string& named) -> std::optional<double> {
    const auto found = find_recording(folders, std::string(trimmed(named)));
    constexpr Seconds kLongestGuess{30};
    return found ? std::optional(seconds_of(*found, kLongestGuess).value_or(0)) : std::nullopt;
  };
  return some;
}

/// The header of a list; none where its first line is a row already.
struct Heading {
  Names names{};
  bool is_first_line = false;
};

bool names_a_file(const Names& fields, const RecordingFolders& folders) {
  return std::ranges::any_of(fields, [&](const std::string& field) {
    const auto named = trimmed(field);
    return !named.empty() && find_recording(folders, std::string(named)).has_value();
  });
}

/// Whether a row is parted by a semicolon behind the file that it begins with, although more commas are in its text.
bool has_semicolon_behind_file(const std::string& row, const RecordingFolders& folders) {
  const Names fields = separated_fields(row, ';');
  return fields.size() > 1 && names_a_file({fields.front()}, folders) &&
         !names_a_file(separated_fields(row, ','), folders);
}

Heading heading_of(const LineIndex& lines, const RowStyle& style, const ListRequest& request) {
  Names first = readable(style.fields_of(lines.line(0)), lines.encoding());
  if (first.front().starts_with('#')) first.front().erase(0, 1);
  if (is_header(first, request.content)) return {first, true};
  const bool is_named = column_of({first.front()}, kAudioNames) == 0 || column_of({first.front()}, kIdNames) == 0;
  if (is_named && first.size() > 1 && !names_a_file(first, request.folders)) return {first, true};
  Names remark = style.fields_of(lines.remark());
  if (remark.size() == first.size() && is_header(remark, request.content)) return {remark, false};
  return {};
}

tl::unexpected<Error> no_column(const fs::path& index, const Names& header, const ListColumns& columns,
                                ListContent content) {
  const char* missing = columns.audio.empty() ? "audio" : content == ListContent::labels ? "label" : "text";
  return fail(Fault::corrupt,
              index.string() + ": its header names no " + missing + " column, found " + quoted_names(header),
              content == ListContent::labels
                  ? "A list of labelled files has the columns 'path' and 'label', and may have 'group' and 'split'"
                  : "Name them audio and text; docs/feed.md lists the other names that are understood");
}

bool has_content(const ListColumns& columns, ListContent content) {
  return content == ListContent::labels ? !columns.label.empty() : columns.text >= 0 || columns.normalised >= 0;
}

}  // namespace

void set_span(DatasetLine& line, std::optional<double> start, std::optional<double> end,
              std::optional<double> duration) {
  line.start = start;
  line.end = start && !end && duration ? *start + *duration : end;
  if (!start && !end) line.duration = duration;
}

Result<std::unique_ptr<Dataset>> open_rows(const fs::path& index, ListRequest request) {
  const auto row = TRY(first_row_of(index));
  const bool has_bars = separator_of(row, request.content) == '|';
  RowStyle style{.separator = separator_of(row, request.content),
                 .is_quoted = !has_bars || names_audio_and_content(row, request.content)};
  if (has_bars && !style.is_quoted && request.content == ListContent::texts)
    request.folders = {.base = request.folders.base, .audio = request.folders.base / "wavs"};
  if (style.separator == ',' && has_semicolon_behind_file(row, request.folders))
    style = {.separator = ';', .is_quoted = true, .is_loose = true};
  auto lines = TRY(LineIndex::open(index, {.separator = style.separator, .is_quoted = style.is_quoted}));
  if (lines.size() == 0) return fail(Fault::corrupt, index.string() + ": has no row");
  const Heading heading = heading_of(lines, style, request);
  ListColumns columns;
  if (!heading.names.empty()) columns = named_columns(heading.names, request.content, request.fields);
  if (heading.names.empty() && !has_bars) {
    const Names first = readable(style.fields_of(lines.line(0)), lines.encoding());
    if (first.size() < 2 || !names_a_file(first, request.folders))
      return no_column(index, first, named_columns(first, request.content, {}), request.content);
  }
  if (heading.is_first_line) lines.skip_first();
  if (heading.names.empty() || !has_content(columns, request.content) || !style.is_quoted) {
    if (!heading.names.empty() && style.is_quoted) return no_column(index, heading.names, columns, request.content);
    auto complete =
        complete_columns(std::move(columns), heading.names, request.content, some_rows(lines, style, request.folders));
    if (!complete) return fail_in(index.string(), complete.error());
    columns = std::move(*complete);
  }
  for (std::size_t i = 0; i < request.fields.size(); ++i)
    if (columns.fields.size() <= i || columns.fields[i] < 0)
      return fail(Fault::usage, index.string() + ": has no column '" + request.fields[i] + "', found " +
                                    (heading.names.empty() ? "no names of columns" : quoted_names(heading.names)));
  return std::make_unique<RowList>(std::move(lines), style, std::move(columns), std::move(request), index);
}

}  // namespace tutti
