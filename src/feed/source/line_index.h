#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "text/text_encoding.h"

namespace tutti {

/// The fields of one line of CSV (RFC 4180: quotes around a field, doubled inside) or of another separator. An unclosed
/// quote is part of its text; blanks around a quoted field are not.
std::vector<std::string> separated_fields(std::string_view line, char separator);

/// The fields of a line whose quotes are characters as any other.
std::vector<std::string> unquoted_fields(std::string_view line, char separator);

/// Where the line that begins at `at` ends: the offset of its newline, or the text's end. A newline within a quoted
/// field, as separated_fields knows it, belongs to the line. `cr_ends`: a CR alone ends a line, too.
std::size_t separated_line_end(std::string_view text, std::size_t at, char separator, bool cr_ends = false);

/// How the lines of a file are recognised.
struct LineRules {
  /// Between fields; none: lines have no fields, as those of JSON.
  std::optional<char> separator{};
  bool is_quoted = false;  ///< fields may be quoted, so that a newline may belong to one
};

/// The lines of a mapped text file, any of them in constant time. Remembers where every sixteenth begins: a million
/// lines are indexed in some 20 ms and half a megabyte. A line ends with LF, CR LF or CR alone. These do not count:
/// lines without anything but blanks and separators; comments, which begin with #, ;, %, // or -- and have no field,
/// above the first line also with fields where a blank is behind the mark; "sep=;". Immutable; thread-safe.
class LineIndex {
 public:
  /// Opens a text in UTF-8 or Windows-1252, or in UTF-16 with its mark or without; or what gzip made of one.
  static Result<LineIndex> open(const std::filesystem::path& path, LineRules rules = {});

  std::int64_t size() const { return size_; }
  /// Its bytes, without its end.
  std::string_view line(std::int64_t index) const;
  /// Which line of the file that is, from 1.
  std::int64_t number(std::int64_t index) const;
  /// Drops the first line: a header.
  void skip_first() { ++skipped_, --size_; }
  /// The last comment above the first line, without its mark; empty: there is none.
  const std::string& remark() const { return remark_; }
  TextEncoding encoding() const { return encoding_.encoding; }
  /// The number of the first line that is not UTF-8; 0: all are.
  std::int64_t first_other_line() const;
  /// Whether a CR alone ends some line.
  bool has_lone_cr() const { return cr_ends_; }
  /// A digest of the file's bytes.
  std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  LineIndex(MappedFile file, LineRules rules) : file_(std::move(file)), rules_(rules) {}
  std::string_view text() const { return converted_ ? std::string_view(*converted_) : file_.text(); }
  void build();
  /// The end of the line that begins at `at`: the offset of its first end character, or the text's end.
  std::size_t end_of(std::size_t at) const;
  std::size_t unquoted_end_of(std::size_t at) const;
  /// The first line at or after `at` that counts.
  std::size_t next_start(std::size_t at) const;
  std::size_t start_of(std::int64_t index) const;
  /// How many lines of the file end in [from, to).
  std::int64_t ends_in(std::size_t from, std::size_t to) const;

  MappedFile file_;
  std::unique_ptr<const std::string> converted_{};  // its content as UTF-8, where it is UTF-16 or compressed
  LineRules rules_;
  bool has_quotes_ = false;  // without any, newlines are found faster
  bool cr_ends_ = false;
  std::string remark_{};
  EncodingFacts encoding_{};
  std::vector<std::uint64_t> starts_;  // offset of every kStride-th line
  std::vector<std::int64_t> numbers_;  // which line of the file each of them is
  std::int64_t size_ = 0;
  std::int64_t skipped_ = 0;
  std::uint64_t fingerprint_ = 0;
};

/// The first line of a text that is a row: no comment and not blank. `remark`: the last comment above it, where given.
std::string_view first_row(std::string_view text, std::string* remark = nullptr);

/// The first row of a list, as UTF-8: its header, where it has one. Empty: the file has none in its first megabyte.
Result<std::string> first_row_of(const std::filesystem::path& list);

/// A field of a list in that encoding, as UTF-8. Fault::corrupt for one with a NUL, or of another encoding, which would
/// be learned without some of its characters; `what` it is, "its text".
Result<std::string> text_of_field(const std::string& field, TextEncoding encoding, const char* what);

/// "line 3 is not UTF-8, ...": for people who should know how a list is read.
std::string read_as_windows_1252(std::int64_t line);

}  // namespace tutti
