#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "traces/event_scan.h"

namespace tutti {

/// Fills a buffer with the next bytes of a text, and returns how many there were: 0 at its end.
using ReadText = std::function<Result<std::size_t>(std::span<char> out)>;

/// The text of a file, unpacked where it is one of gzip's. Errors of reading come from the call itself; those of a
/// damaged gzip file name the byte of the packed file.
Result<ReadText> open_text(const std::filesystem::path& file);

/// Whole events of a trace: a JSON array of their own, with the bytes behind it that simdjson may read. What its writer
/// did not escape is mended (event_scan.h), so that bytes differ from the file's, but none moves.
struct EventChunk {
  std::span<char> json{};
  std::size_t capacity = 0;  ///< bytes from the start of `json` that may be read
  std::int64_t at = 0;       ///< of the first byte of `json` in the file's text
};

/// Cuts a trace in Chrome's JSON format into pieces, so that a file of any size needs little memory: an object with
/// "traceEvents", or the array of events alone. Checks what is around the events; they themselves are the caller's to
/// parse. One thread.
class EventChunks {
 public:
  /// `name` is the file's, for errors.
  EventChunks(ReadText read, std::string name);

  /// The next events, valid until the next call; none at the file's end. Fault::corrupt names the byte, what was
  /// expected there and what was found.
  Result<std::optional<EventChunk>> next();

  /// The value of "distributedInfo" as JSON, once it was passed; empty: there is none.
  const std::string& distributed_info() const { return distributed_info_; }

  /// An error at a byte of the file's text.
  Error error_at(std::int64_t byte, const std::string& expected, const std::string& found) const;

  /// The error for a text that ends at a byte, where more was expected.
  Error cut_off_at(std::int64_t byte, const std::string& expected) const;

 private:
  enum class Where { start, object, events, between, events_end, end };
  Result<bool> find_events();
  Result<void> pass_end();
  Result<std::size_t> fill();
  Result<bool> has_more();
  Result<char> peek();
  Result<void> expect(char wanted, const char* what);
  Result<std::string> read_string(std::size_t most);
  Result<bool> ends_string();
  Result<void> skip_value(std::string* kept);
  Result<void> begin();
  Result<void> pass_members();
  Result<void> pass_trailer();
  Result<EventScan> cut();
  std::int64_t position() const { return base_ + static_cast<std::int64_t>(at_ - kMargin); }
  Result<void> grow();

  static constexpr std::size_t kMargin = 128;  // before and behind the text: an added bracket, what simdjson may read
  ReadText read_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t at_ = kMargin, end_ = kMargin;  // what of the buffer is not consumed yet
  std::int64_t base_ = 0;                     // the text's byte at buffer_[kMargin]
  bool has_ended_ = false;                    // the source has no more
  bool is_array_ = false;                     // the file is the array alone
  bool has_events_ = false;
  Where where_ = Where::start;
  char hidden_ = 0;  // what the closing bracket of the last chunk replaced, at at_
  bool hides_ = false;
  std::string distributed_info_{};
};

}  // namespace tutti
