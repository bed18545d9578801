#include "feed/source/line_index.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include "base/strings.h"
#include "base/try.h"
#include "feed/feature_cache.h"
#include "feed/source/archives.h"
#include "text/byte_order_mark.h"
#include "text/manifest/csv.h"
#include "text/utf8.h"

namespace tutti {
namespace {

constexpr std::int64_t kStride = 16;
constexpr std::string_view kEnds = "\r\n";

/// The first character at or after `at` that is no blank within a row.
std::size_t behind_blanks(std::string_view text, std::size_t at, char separator) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t') && text[at] != separator) ++at;
  return at;
}

/// Whether a field ends at `at`.
bool ends_field(std::string_view text, std::size_t at, char separator) {
  return at >= text.size() || text[at] == separator || kEnds.find(text[at]) != kEnds.npos;
}

/// Whether the quote that begins a field begins a quoted one: it is closed where a field ends, or at least in its line.
/// An unclosed one is a character as any other, and must not swallow the lines behind it. Blanks may be around the
/// quotes; behind such blanks, only a quote that ends with its field opens it.
bool opens_quoted(std::string_view text, std::size_t at, char separator) {
  const bool is_indented = at > 0 && behind_blanks(text, at - 1, separator) == at;
  for (std::size_t end = text.find('"', at + 1); end != std::string_view::npos; end = text.find('"', end + 2)) {
    if (end + 1 < text.size() && text[end + 1] == '"') continue;  // doubled: it means one
    if (ends_field(text, behind_blanks(text, end + 1, separator), separator)) return true;
    return !is_indented && text.substr(at, end - at).find_first_of(kEnds) == std::string_view::npos;
  }
  return false;
}

std::size_t end_in(std::string_view text, std::size_t at, bool cr_ends) {
  return std::min(cr_ends ? text.find_first_of(kEnds, at) : text.find('\n', at), text.size());
}

/// Whether a CR is somewhere without LF behind it.
bool has_lone_cr(std::string_view text) {
  for (std::size_t at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1))
    if (at + 1 >= text.size() || text[at + 1] != '\n') return true;
  return false;
}

/// Has nothing but blanks and separators, as spreadsheets write rows that were emptied.
bool is_blank(std::string_view line, std::optional<char> separator) {
  return std::ranges::all_of(line, [&](char c) { return c == ' ' || c == '\t' || c == '\r' || c == separator; });
}

/// The text behind the mark of a comment, with the blanks before it; none: the line begins with none.
std::optional<std::string_view> behind_mark(std::string_view line) {
  for (const std::string_view mark : {"#", "//", "--", ";", "%"})
    if (line.starts_with(mark)) return line.substr(std::min(line.find_first_not_of(mark), line.size()));
  return std::nullopt;
}

/// Whether the line is a comment, wherever it is in the file.
bool is_comment(std::string_view line, std::optional<char> separator) {
  constexpr std::string_view kSeparatorOf = "sep=";  // Excel's
  if (line.size() == kSeparatorOf.size() + 1 && line.starts_with(kSeparatorOf)) return true;
  if (!separator) return line.starts_with('#') || line.starts_with("//");
  const auto text = behind_mark(line);
  return text && text->find(*separator) == std::string_view::npos;
}

/// Whether a line is a comment that has only comments above it, and `next` below. There a mark with a blank behind it
/// is enough, and so is one without the separator of the next line: else it may be the names of the columns.
bool is_comment_above(std::string_view line, std::string_view next) {
  const auto text = behind_mark(line);
  if (!text) return is_comment(line, '|');
  if (text->empty() || text->front() == ' ' || text->front() == '\t') return true;
  const char separator = next.find('|') == std::string_view::npos ? csv_separator(next) : '|';
  return text->find(separator) == std::string_view::npos || next.find(separator) == std::string_view::npos;
}

/// The line at or after `at` that is not empty; `at` is then behind it.
std::string_view take_line(std::string_view text, std::size_t& at) {
  const std::size_t begin = std::min(text.find_first_not_of(kEnds, at), text.size());
  at = end_in(text, begin, true);
  return text.substr(begin, at - begin);
}

}  // namespace

std::vector<std::string> separated_fields(std::string_view line, char separator) {
  std::vector<std::string> fields(1);
  bool is_inside = false;
  std::size_t first = behind_blanks(line, 0, separator);  // of the field, without the blanks before it
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (c == '"' && is_inside && at + 1 < line.size() && line[at + 1] == '"') {
      fields.back() += '"';
      ++at;
    } else if (c == '"' && is_inside) {
      is_inside = false;
      const std::size_t next = behind_blanks(line, at + 1, separator);
      if (ends_field(line, next, separator)) at = next - 1;
    } else if (c == '"' && at == first && opens_quoted(line, at, separator)) {
      is_inside = true;
      fields.back().clear();
    } else if (c == separator && !is_inside) {
      fields.emplace_back();
      first = behind_blanks(line, at + 1, separator);
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<std::string> unquoted_fields(std::string_view line, char separator) {
  std::vector<std::string> fields;
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(separator, at), line.size());
    fields.emplace_back(line.substr(at, end - at));
    at = end + 1;
  }
  return fields;
}

std::size_t separated_line_end(std::string_view text, std::size_t at, char separator, bool cr_ends) {
  bool is_inside = false, is_field_start = true;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && is_inside && at + 1 < text.size() && text[at + 1] == '"')
      ++at;
    else if (c == '"' && (is_inside || (is_field_start && opens_quoted(text, at, separator))))
      is_inside = !is_inside;
    else if ((c == '\n' || (cr_ends && c == '\r')) && !is_inside)
      return at;
    const bool is_blank = c == ' ' || c == '\t';
    is_field_start = !is_inside && (c == separator || (is_field_start && is_blank));
  }
  return text.size();
}

Result<LineIndex> LineIndex::open(const std::filesystem::path& path, LineRules rules) {
  auto file = TRY(MappedFile::open(path));
  LineIndex index(std::move(file), rules);
  std::optional<std::string> converted;
  if (is_gzip(index.file_.text())) {
    auto text = gunzipped(index.file_.text());
    if (!text) return fail_in(path.string(), text.error());
    converted = std::move(*text);
  }
  if (!converted) converted = utf8_of_utf16(index.file_.text());
  if (!converted) converted = utf8_of_unmarked_utf16(index.file_.text());
  if (converted) index.converted_ = std::make_unique<const std::string>(std::move(*converted));
  index.has_quotes_ = rules.separator && rules.is_quoted && index.text().find('"') != std::string_view::npos;
  index.cr_ends_ = tutti::has_lone_cr(index.text());
  index.encoding_ = encoding_of(index.text());
  index.build();
  index.fingerprint_ = checksum(index.file_.bytes());
  return index;
}

void LineIndex::build() {
  const std::string_view text = this->text();
  const std::size_t above = text.size() - without_mark(text).size();
  const std::string_view first = first_row(text.substr(above), &remark_);
  std::size_t at = next_start(first.empty() ? text.size() : static_cast<std::size_t>(first.data() - text.data()));
  std::size_t counted_to = 0;
  std::int64_t number = 1;
  for (; at < text.size(); at = next_start(end_of(at))) {
    if (size_ % kStride == 0) {
      number += ends_in(std::exchange(counted_to, at), at);
      starts_.push_back(at);
      numbers_.push_back(number);
    }
    ++size_;
  }
}

std::size_t LineIndex::unquoted_end_of(std::size_t at) const {
  return end_in(text(), at, cr_ends_);
}

std::size_t LineIndex::end_of(std::size_t at) const {
  return has_quotes_ ? separated_line_end(text(), at, *rules_.separator, cr_ends_) : unquoted_end_of(at);
}

std::size_t LineIndex::next_start(std::size_t at) const {
  constexpr std::string_view kMayNotCount = " \t#;%/-s";
  const std::string_view text = this->text();
  for (;;) {
    while (at < text.size() && (text[at] == '\n' || text[at] == '\r')) ++at;
    if (at >= text.size()) return at;
    if (kMayNotCount.find(text[at]) == std::string_view::npos && text[at] != rules_.separator) return at;
    const std::size_t end = unquoted_end_of(at);
    const std::string_view line = text.substr(at, end - at);
    if (!is_blank(line, rules_.separator) && !is_comment(line, rules_.separator)) return at;
    at = end;
  }
}

std::size_t LineIndex::start_of(std::int64_t index) const {
  index += skipped_;
  std::size_t at = starts_[static_cast<std::size_t>(index / kStride)];
  for (std::int64_t i = 0; i < index % kStride; ++i) at = next_start(end_of(at));
  return at;
}

std::string_view LineIndex::line(std::int64_t index) const {
  const std::size_t at = start_of(index);
  std::string_view line = text().substr(at, end_of(at) - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::int64_t LineIndex::ends_in(std::size_t from, std::size_t to) const {
  const std::string_view text = this->text();
  const auto within = text.substr(from, to - from);
  std::int64_t ends = std::ranges::count(within, '\n');
  if (cr_ends_)
    for (std::size_t at = from; at < to; ++at)
      ends += text[at] == '\r' && (at + 1 >= text.size() || text[at + 1] != '\n') ? 1 : 0;
  return ends;
}

std::int64_t LineIndex::number(std::int64_t index) const {
  const auto stride = static_cast<std::size_t>((index + skipped_) / kStride);
  return numbers_[stride] + ends_in(starts_[stride], start_of(index));
}

std::int64_t LineIndex::first_other_line() const {
  return encoding_.encoding == TextEncoding::utf8 ? 0 : 1 + ends_in(0, encoding_.first);
}

std::string_view first_row(std::string_view text, std::string* remark) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = take_line(text, at);
    if (line.find_first_not_of(" \r|\t;,") == std::string_view::npos) continue;
    std::size_t behind = at;
    if (!is_comment_above(line, take_line(text, behind))) return line;
    if (const auto comment = behind_mark(line); comment && remark) *remark = trimmed(*comment);
  }
  return {};
}

Result<std::string> first_row_of(const std::filesystem::path& list) {
  constexpr std::size_t kLongest = 1 << 20;  // bytes; enough for UTF-16 as well, whose lines have zeros between
  std::string head(kLongest, '\0');
  std::ifstream in(list, std::ios::binary);
  if (!in) return fail_errno(list.string(), "cannot be read");
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(in.gcount()));
  if (auto converted = utf8_of_utf16(head))
    head = std::move(*converted);
  else if (auto unmarked = utf8_of_unmarked_utf16(head))
    head = std::move(*unmarked);
  return std::string(first_row(without_mark(head)));
}

Result<std::string> text_of_field(const std::string& field, TextEncoding encoding, const char* what) {
  constexpr std::size_t kShown = 80;
  if (const auto nul = field.find('\0'); nul != std::string::npos) {
    const auto before = replace_invalid_utf8(field.substr(0, std::min(nul, kShown)));
    return fail(Fault::corrupt, std::string(what) + " has a NUL in it, behind '" + before + "'",
                "Take the NUL out of the file that lists it: it is damaged, or in an encoding that is not known");
  }
  if (encoding == TextEncoding::utf8 || is_utf8(field)) return field;
  if (encoding == TextEncoding::windows_1252)
    if (auto text = utf8_of_windows_1252(field)) return std::move(*text);
  return fail(Fault::corrupt,
              std::string(what) + " is not UTF-8: '" + replace_invalid_utf8(field.substr(0, kShown)) + "'",
              "Convert the file that lists it, for example with iconv -f latin1 -t utf-8; lists of classic Mac OS "
              "with -f macintosh");
}

std::string read_as_windows_1252(std::int64_t line) {
  return "line " + std::to_string(line) +
         " is not UTF-8, so the list is read as Windows-1252 (Latin-1). Where its letters come out wrong, convert it "
         "to "
         "UTF-8, for example with iconv";
}

}  // namespace tutti
