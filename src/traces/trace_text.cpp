#include "traces/trace_text.h"

#include <fcntl.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "base/files.h"
#include "base/owned.h"
#include "base/try.h"
#include "traces/event_scan.h"

namespace tutti {
namespace {

constexpr std::size_t kBuffer = 1 << 20, kMostBuffer = 16 << 20;  // an event may be no longer than the second
constexpr std::size_t kMostInfo = 1 << 20, kMostKey = 4096;

bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

std::string shown(char c) {
  if (c >= ' ' && c <= '~') return std::string("'") + c + "'";
  return "the byte " + std::to_string(static_cast<unsigned char>(c));
}

/// gzip's file, read and unpacked by zlib.
Result<ReadText> open_packed(OwnedFd fd, const std::string& name) {
  const std::shared_ptr<gzFile_s> file(::gzdopen(fd.get(), "rb"), [](gzFile_s* it) {
    if (it) ::gzclose_r(it);
  });
  if (!file) return fail(Fault::exhausted, name + ": no memory to unpack it");
  (void)fd.release();
  ::gzbuffer(file.get(), 1 << 18);
  return ReadText([file, name](std::span<char> out) -> Result<std::size_t> {
    const auto wanted = static_cast<unsigned>(std::min<std::size_t>(out.size(), 1 << 30));
    const int read = ::gzread(file.get(), out.data(), wanted);
    int code = Z_OK;
    const char* text = ::gzerror(file.get(), &code);
    if (read > 0 && code != Z_DATA_ERROR) return static_cast<std::size_t>(read);
    if (code == Z_OK || code == Z_STREAM_END) return std::size_t{0};
    const std::string what = code == Z_BUF_ERROR ? "its end: it is cut off" : text && *text ? text : "damaged data";
    return fail(Fault::corrupt,
                name + ": byte " + std::to_string(::gzoffset(file.get())) +
                    " of the packed file: expected more of gzip's data, found " + what,
                "Copy or record the trace again");
  });
}

}  // namespace

Result<ReadText> open_text(const std::filesystem::path& file) {
  OwnedFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return fail_errno(file.string(), "cannot be opened");
  std::array<std::byte, 2> magic{};
  const auto known = TRY(read_at(fd.get(), magic, 0, file.string()));
  if (known == 2 && magic[0] == std::byte{0x1f} && magic[1] == std::byte{0x8b})
    return open_packed(std::move(fd), file.string());
  const auto shared = std::make_shared<OwnedFd>(std::move(fd));
  return ReadText([shared, name = file.string(), at = std::int64_t{0}](std::span<char> out) mutable {
    auto read = read_at(shared->get(), std::as_writable_bytes(out), at, name);
    if (read) at += static_cast<std::int64_t>(*read);
    return read;
  });
}

EventChunks::EventChunks(ReadText read, std::string name)
    : read_(std::move(read)), name_(std::move(name)), buffer_(kBuffer + 2 * kMargin) {}

Error EventChunks::error_at(std::int64_t byte, const std::string& expected, const std::string& found) const {
  const bool is_packed = name_.ends_with(".gz");
  return {Fault::corrupt, name_ + ": byte " + std::to_string(byte) + ": expected " + expected + ", found " + found,
          "Expected is a trace that PyTorch's profiler exported. To see what is there: " +
              (is_packed ? "gzip -dc " + name_ : "cat " + name_) + " | head -c " + std::to_string(byte + 60) +
              " | tail -c 120"};
}

Error EventChunks::cut_off_at(std::int64_t byte, const std::string& expected) const {
  return {Fault::corrupt,
          name_ + ": byte " + std::to_string(byte) + ": expected " + expected + ", found the file's end: it is cut off",
          "Copy it again, or let the profiler end before the program does: it writes the trace last"};
}

/// Moves what is left to the buffer's start and reads behind it. How many bytes came.
Result<std::size_t> EventChunks::fill() {
  std::memmove(buffer_.data() + kMargin, buffer_.data() + at_, end_ - at_);
  base_ += static_cast<std::int64_t>(at_ - kMargin);
  end_ -= at_ - kMargin;
  at_ = kMargin;
  const auto space = std::span(buffer_).subspan(end_, buffer_.size() - kMargin - end_);
  auto read = read_(space);
  if (!read) return read;
  has_ended_ = *read == 0 && !space.empty();
  end_ += *read;
  return read;
}

/// Whether a byte is left.
Result<bool> EventChunks::has_more() {
  if (at_ < end_) return true;
  if (has_ended_) return false;
  return fill().map([&](std::size_t) { return at_ < end_; });
}

/// The next byte that is no space, not consumed. Its absence is an error.
Result<char> EventChunks::peek() {
  for (;;) {
    while (at_ < end_ && is_blank(buffer_[at_])) ++at_;
    if (at_ < end_) return buffer_[at_];
    const auto more = TRY(has_more());
    if (!more) return tl::unexpected(cut_off_at(position(), "more of the trace"));
  }
}

Result<void> EventChunks::expect(char wanted, const char* what) {
  const auto found = TRY(peek());
  if (found != wanted) return tl::unexpected(error_at(position(), what, shown(found)));
  ++at_;
  return {};
}

/// A string's bytes between its quotes, escapes as they are.
Result<std::string> EventChunks::read_string(std::size_t most) {
  TRY(expect('"', "a member's name in quotes"));
  std::string text;
  for (bool is_escaped = false;;) {
    const auto more = TRY(has_more());
    if (!more) return tl::unexpected(cut_off_at(position(), "the end of a string"));
    const char c = buffer_[at_++];
    if (c == '"' && !is_escaped) return text;
    is_escaped = c == '\\' && !is_escaped;
    if (text.size() == most) return tl::unexpected(error_at(position(), "a member's name", "more than 4,096 bytes"));
    text += c;
  }
}

/// Whether the quote before can end a text: a name that was written as it is may have others.
Result<bool> EventChunks::ends_string() {
  for (std::size_t ahead = 0;; ++ahead) {
    if (at_ + ahead == end_) {
      if (has_ended_) return true;
      TRY(fill());
      if (at_ + ahead == end_) return true;
    }
    const char c = buffer_[at_ + ahead];
    if (!is_blank(c)) return c == ',' || c == ':' || c == '}' || c == ']';
  }
}

/// Passes a value of any kind; `kept`: gets its bytes, if they are few.
Result<void> EventChunks::skip_value(std::string* kept) {
  TRY(peek());
  int depth = 0;
  bool in_string = false, is_escaped = false, began = false;
  for (;;) {
    const auto more = TRY(has_more());
    if (!more) return tl::unexpected(cut_off_at(position(), "the end of a value"));
    const char c = buffer_[at_];
    const bool is_outside = !in_string && depth == 0;
    if (is_outside && (c == ',' || c == '}' || c == ']' || is_blank(c))) {
      if (began) return {};
      return tl::unexpected(error_at(position(), "a value", shown(c)));
    }
    began = true;
    ++at_;
    if (kept && kept->size() < kMostInfo) *kept += c;
    if (in_string) {
      if (c == '"' && !is_escaped) {
        const auto ends = TRY(ends_string());
        in_string = !ends;
      }
      is_escaped = c == '\\' && !is_escaped;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    }
    if (!in_string && depth == 0 && (c == '}' || c == ']' || c == '"')) return {};
  }
}

Result<void> EventChunks::begin() {
  auto first = peek();
  for (const char mark : std::string_view("\xEF\xBB\xBF")) {  // a byte order mark, as editors write it
    if (!first || *first != mark) break;
    ++at_;
    first = peek();
  }
  TRY(first);
  is_array_ = *first == '[';
  if (!is_array_ && *first != '{')
    return tl::unexpected(error_at(position(), "'{' or '[', with which a trace begins", shown(*first)));
  ++at_;
  where_ = is_array_ ? Where::events : Where::object;
  has_events_ = is_array_;
  return {};
}

/// The members of the outer object, as far as the events' array or its end.
Result<void> EventChunks::pass_members() {
  for (;;) {
    const auto next = TRY(peek());
    if (next == '}') {
      ++at_;
      where_ = Where::end;
      return {};
    }
    const auto key = TRY(read_string(kMostKey));
    if (auto colon = expect(':', "':' behind a member's name"); !colon) return colon;
    if (key == "traceEvents") {
      if (has_events_) return tl::unexpected(error_at(position(), "one \"traceEvents\"", "another"));
      if (auto open = expect('[', "'[', with which the events begin"); !open) return open;
      where_ = Where::events;
      has_events_ = true;
      return {};
    }
    if (auto value = skip_value(key == "distributedInfo" ? &distributed_info_ : nullptr); !value) return value;
    if (auto behind = pass_trailer(); !behind) return behind;
  }
}

/// The comma behind a member; the object's end stays.
Result<void> EventChunks::pass_trailer() {
  const auto next = TRY(peek());
  if (next == ',') ++at_;
  if (next == ',' || next == '}') return {};
  return tl::unexpected(error_at(position(), "',' or '}' behind a member", shown(next)));
}

Result<void> EventChunks::grow() {
  if (buffer_.size() >= kMostBuffer)
    return tl::unexpected(error_at(position(), "an event of at most 16 MiB", "a longer one"));
  buffer_.resize(2 * buffer_.size());
  return {};
}

/// Finds the last event that is whole in the buffer, and reads more where none is.
Result<EventScan> EventChunks::cut() {
  for (;;) {
    EventScan found = scan_events(std::span(buffer_).subspan(at_, end_ - at_), has_ended_);
    if (found.is_brace)
      return tl::unexpected(error_at(position() + static_cast<std::int64_t>(found.end), "']'", "'}'"));
    if (found.is_last || (found.end > 0 && (end_ + kMargin == buffer_.size() || has_ended_))) return found;
    if (end_ - at_ + 2 * kMargin == buffer_.size()) TRY(grow());
    const bool had_ended = has_ended_;
    TRY(fill());
    if (had_ended)
      return tl::unexpected(
          cut_off_at(base_ + static_cast<std::int64_t>(end_ - kMargin), "the end of an event and of the events"));
  }
}

/// Goes on behind the last chunk, as far as the next event; false: there is none.
Result<bool> EventChunks::find_events() {
  if (hides_) buffer_[at_] = hidden_;
  hides_ = false;
  Result<void> passed;
  for (;;) {
    switch (where_) {
      case Where::start: passed = begin(); break;
      case Where::object: passed = pass_members(); break;
      case Where::events: return true;
      case Where::between:
        passed = expect(',', "',' or ']' behind an event");
        where_ = Where::events;
        break;
      case Where::events_end:
        passed = pass_trailer();
        where_ = Where::object;
        break;
      case Where::end: return pass_end().map([] { return false; });
    }
    TRY(passed);
  }
}

/// Only blanks may be behind the trace.
Result<void> EventChunks::pass_end() {
  if (!has_events_)
    return tl::unexpected(error_at(position(), "a member \"traceEvents\" with the events", "the object's end"));
  for (;;) {
    while (at_ < end_ && is_blank(buffer_[at_])) ++at_;
    const auto more = TRY(has_more());
    if (!more) return {};
    if (!is_blank(buffer_[at_]))
      return tl::unexpected(error_at(position(), "the file's end behind the trace", shown(buffer_[at_])));
  }
}

Result<std::optional<EventChunk>> EventChunks::next() {
  const auto found = TRY(find_events());
  if (!found) return std::optional<EventChunk>();
  TRY(peek());
  const auto events = TRY(cut());
  const std::size_t start = at_ - 1, end = at_ + events.end;
  const EventChunk chunk{
      .json = {buffer_.data() + start, end + 1 - start}, .capacity = buffer_.size() - start, .at = position() - 1};
  buffer_[start] = '[';
  at_ = end;
  if (events.is_last) {
    ++at_;
    where_ = is_array_ ? Where::end : Where::events_end;
  } else {
    hides_ = true;
    hidden_ = std::exchange(buffer_[at_], ']');
    where_ = Where::between;
  }
  return std::optional<EventChunk>(chunk);
}

}  // namespace tutti
