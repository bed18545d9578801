#include "text/manifest/read.h"

#include <algorithm>
#include <cstddef>
#include <istream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/try.h"
#include "text/byte_order_mark.h"
#include "text/json_bytes.h"
#include "text/manifest/csv.h"
#include "text/manifest/field_names.h"
#include "text/manifest/json_scan.h"
#include "text/manifest/record.h"

namespace tutti {
namespace {

using namespace std::string_view_literals;

/// By the mark at its beginning; empty: none of them.
std::string marked_encoding(std::string_view text) {
  if (text.starts_with("\xff\xfe\0\0"sv) || text.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (text.starts_with("\xff\xfe"sv) || text.starts_with("\xfe\xff"sv)) return "UTF-16";
  return {};
}

/// The pieces of a text between NULs.
struct Pieces {
  std::size_t all = 0;
  std::size_t empty = 0;
  std::size_t single = 0;     // one byte: every ASCII character of UTF-16 is one
  bool has_line_end = false;  // a line's end alone is no name
};

Pieces pieces_of(std::string_view text) {
  Pieces pieces;
  while (!text.empty()) {
    const auto piece = text.substr(0, text.find('\0'));
    ++pieces.all;
    pieces.empty += piece.empty() ? 1 : 0;
    pieces.single += piece.size() == 1 ? 1 : 0;
    const bool is_ended = piece.size() < text.size();  // what `echo` adds at the end is not
    pieces.has_line_end |= is_ended && (piece == "\n" || piece == "\r");
    text.remove_prefix(std::min(text.size(), piece.size() + 1));
  }
  return pieces;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\0' && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f;
}

/// The encoding of a text with NULs in it; empty: they may well end names.
std::string guessed_encoding(std::string_view text) {
  const Pieces pieces = pieces_of(text);
  if (2 * pieces.empty > pieces.all) return "UTF-32 or no text";
  if (pieces.has_line_end || (pieces.all > 1 && 2 * pieces.single > pieces.all)) return "UTF-16";
  if (std::ranges::any_of(text, is_control)) return "no text";
  return {};
}

/// What ends each entry of a list: a line's end, which is CR where no LF is, or a NUL where there is one, as `find
/// -print0` writes.
char entry_end(std::string_view text) {
  for (const char end : {'\0', '\n', '\r'})
    if (text.find(end) != std::string_view::npos) return end;
  return '\n';
}

/// Fault::unsupported where a list, table or manifest is in an encoding other than one that ASCII is part of (UTF-8,
/// Latin-1, ...): UTF-16 without its byte order mark, UTF-32, or no text at all. `nul_ends`: NULs may end its entries.
/// `name` is for messages.
Result<void> expect_text(std::string_view text, bool nul_ends, const std::string& name) {
  std::string found = marked_encoding(text);
  if (found.empty() && text.find('\0') != std::string_view::npos) {
    found = guessed_encoding(text);
    if (found.empty() && !nul_ends) found = "a NUL in it";
  }
  if (found.empty()) return {};
  return fail(Fault::unsupported, name + ": expected text in UTF-8, found " + found + "; none of it was read",
              "If it is UTF-16: iconv -f UTF-16 -t UTF-8 OLD > NEW");
}

using Json = nlohmann::ordered_json;

/// Writing a value out again takes stack by its depth. Brackets in strings count, too: a rough guard for a rare thing.
bool is_too_deep(std::string_view text) {
  constexpr std::size_t kDeepest = 256;
  std::size_t depth = 0;
  for (const char c : text) {
    if ((c == '{' || c == '[') && ++depth > kDeepest) return true;
    if ((c == '}' || c == ']') && depth > 0) --depth;
  }
  return false;
}

/// What all formats have in common: rules, tally, and where their entries go.
class Reading {
 public:
  Reading(std::string name, const ManifestRules& rules, const ManifestSink& sink)
      : name_(std::move(name)), rules_(rules), sink_(sink) {}

  std::string at(std::size_t line) const { return name_ + ":" + std::to_string(line); }
  const ManifestTally& tally() const { return tally_; }

  /// Each returns whether to go on.
  bool take(ManifestEntry&& entry) {
    if (entry.path.find('\0') != std::string::npos)  // "\u0000" in JSON: the system would open another file
      return refuse({Fault::usage, entry.origin + ": expected the name of a file, found one with a NUL in it"});
    ++tally_.taken;
    return sink_.entry(std::move(entry));
  }
  bool take(const Json& record, const std::string& origin) {
    if (record.is_object() && is_left_out(record, rules_, tally_)) return true;
    auto entry = entry_from(record, origin, rules_);
    return entry ? take(std::move(*entry)) : refuse(std::move(entry.error()));
  }
  bool take_json(std::string_view text, const std::string& origin) {
    if (is_too_deep(text)) return refuse({Fault::corrupt, origin + ": nested too deeply"});
    Json record = parse_json_keeping_bytes<Json>(text);
    if (record.is_discarded()) return refuse({Fault::corrupt, origin + ": expected a JSON object, found broken JSON"});
    if (record.is_string()) return take_path(record.get<std::string>(), origin);
    if (record.is_object()) record = with_known_names(std::move(record));
    return take(record, origin);
  }
  bool take_path(std::string path, const std::string& origin) {
    ManifestEntry entry;
    entry.path = std::move(path);
    entry.origin = origin;
    return take(std::move(entry));
  }
  /// A line of a list that is not blank: a path, or a whole object as in JSON lines.
  bool take_line(std::string line, std::size_t number) {
    if (line.back() == '\r') line.pop_back();
    return take_name(std::move(line), number);
  }
  /// Between two NULs: a name may have line ends in it, and nothing is left out of it.
  bool take_name(std::string name, std::size_t number) {
    return name[0] == '{' ? take_json(name, at(number)) : take_path(std::move(name), at(number));
  }
  bool refuse(Error&& error) {
    ++tally_.unusable;
    sink_.problem(std::move(error));
    return true;
  }

 private:
  std::string name_;
  const ManifestRules& rules_;
  const ManifestSink& sink_;
  ManifestTally tally_;
};

Result<void> read_lines_of(std::string_view text, bool json, Reading& reading) {
  const char separator = entry_end(text);
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    const std::string_view entry = text.substr(at, end - at);
    at = end + 1;
    ++number;
    if (entry.find_first_not_of(" \t\r\n") == std::string_view::npos) continue;  // also what `echo` adds at the end
    const bool goes_on = json                ? reading.take_json(entry, reading.at(number))
                         : separator == '\0' ? reading.take_name(std::string(entry), number)
                                             : reading.take_line(std::string(entry), number);
    if (!goes_on) break;
  }
  return {};
}

Result<void> read_table(std::string_view text, const std::string& name, Reading& reading) {
  const char separator = csv_separator(text);
  CsvReader table(text, separator);
  auto header = table.next();
  if (!header) return fail_in(name, header.error());
  if (!*header) return fail(Fault::corrupt, name + ": expected a first line with the names of the columns");
  std::vector<std::string>& names = (*header)->fields;
  for (auto& column : names)
    if (auto known = known_field_name(column); std::ranges::find(names, known) == names.end())
      column = std::move(known);
  while (true) {
    const auto record = table.next();
    if (!record) return fail_in(name, record.error());
    if (!*record) return {};
    const std::string origin = reading.at((*record)->line);
    const auto& fields = (*record)->fields;
    if (fields.size() != names.size()) {
      reading.refuse({Fault::corrupt, origin + ": expected " + std::to_string(names.size()) + " fields, found " +
                                          std::to_string(fields.size())});
      continue;
    }
    Json object = Json::object();
    for (std::size_t i = 0; i < names.size(); ++i)
      object[names[i]] =
          separator != ',' && is_seconds_field(names[i]) ? with_decimal_point(trimmed(fields[i])) : fields[i];
    if (!reading.take(object, origin)) return {};
  }
}

Result<void> read_document(std::string_view text, const std::string& name, Reading& reading) {
  const auto elements = find_elements(text, "assets");
  if (!elements) return fail_in(name, elements.error());
  const bool is_asset_manifest = text[text.find_first_not_of(" \n\r\t")] == '{';
  const std::size_t count = elements->size();
  std::size_t line = 1, counted_to = 0;  // lines are counted along the way
  if (is_asset_manifest) line = line_of(text, counted_to = text.size());
  for (std::size_t i = 0; i < count; ++i) {
    const TextSpan& span = (*elements)[is_asset_manifest ? count - 1 - i : i];
    const std::size_t low = std::min(span.begin, counted_to);
    const auto between = text.substr(low, std::max(span.begin, counted_to) - low);
    const auto breaks = static_cast<std::size_t>(std::count(between.begin(), between.end(), '\n'));
    line = span.begin < counted_to ? line - breaks : line + breaks;
    counted_to = span.begin;
    if (!reading.take_json(span.of(text), reading.at(line))) break;
  }
  return {};
}

}  // namespace

std::optional<ManifestFormat> manifest_format(const std::filesystem::path& path) {
  const std::string extension = ascii_lower(path.extension().string());
  if (extension == ".txt" || extension == ".lst") return ManifestFormat::list;
  if (extension == ".csv" || extension == ".tsv") return ManifestFormat::csv;
  if (extension == ".jsonl" || extension == ".ndjson") return ManifestFormat::jsonl;
  if (extension == ".json") return ManifestFormat::json;
  return {};
}

Result<ManifestTally> read_manifest(std::string_view text, ManifestFormat format, const std::string& name,
                                    const ManifestRules& rules, const ManifestSink& sink) {
  Reading reading(name, rules, sink);
  const auto decoded = utf8_of_utf16(text);
  if (decoded) text = *decoded;
  text = without_mark(text);
  const bool nul_ends = format == ManifestFormat::list || format == ManifestFormat::jsonl;
  Result<void> read = expect_text(text, nul_ends, name);
  TRY(read);
  switch (format) {
    case ManifestFormat::list: read = read_lines_of(text, false, reading); break;
    case ManifestFormat::jsonl: read = read_lines_of(text, true, reading); break;
    case ManifestFormat::csv: read = read_table(text, name, reading); break;
    case ManifestFormat::json: read = read_document(text, name, reading); break;
  }
  TRY(read);
  return reading.tally();
}

Result<ManifestTally> read_manifest(const std::filesystem::path& path, ManifestFormat format,
                                    const ManifestRules& rules, const ManifestSink& sink) {
  const auto text = TRY(read_file(path));  // not mapped: another program may rewrite it while we read
  return read_manifest(text, format, path.string(), rules, sink);
}

Result<ManifestTally> read_manifest_stream(std::istream& in, const std::string& name, const ManifestRules& rules,
                                           const ManifestSink& sink) {
  // All of it: what ends the entries, and whether it is text, shows anywhere in it.
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return read_manifest(text, ManifestFormat::list, name, rules, sink);
}

std::string left_out_text(const ManifestTally& tally, const ManifestRules& rules) {
  const std::pair<std::int64_t, std::string> reasons[] = {{tally.other_type, "not of the type " + rules.asset_type},
                                                          {tally.excluded, "in " + rules.excluded_folder},
                                                          {tally.deleted, "deleted"},
                                                          {tally.unusable, "that cannot be used"}};
  std::string text;
  for (const auto& [count, reason] : reasons)
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + reason;
  return text;
}

}  // namespace tutti
