#include "audio/decode_protocol.h"

#include <algorithm>
#include <cstring>

#include "base/bytes.h"

namespace tutti {
namespace {

enum class Kind : std::uint8_t { progress, done, failed };
constexpr std::uint32_t kLongest = 1 << 20;

void put(ByteWriter& out, const DecodeProgress& progress) {
  out.put(Kind::progress);
  out.put(progress.samples);
}

void put(ByteWriter& out, const std::vector<std::string>& texts) {
  out.put(static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) out.put(std::string_view(text));
}

/// As many as one message holds; each is a hole of at least 50 ms.
void put(ByteWriter& out, const std::vector<SampleRange>& ranges) {
  constexpr std::size_t kMost = 32'768;
  const std::size_t count = std::min(ranges.size(), kMost);
  out.put(static_cast<std::uint32_t>(count));
  for (std::size_t i = 0; i < count; ++i) {
    out.put(ranges[i].start);
    out.put(ranges[i].end);
  }
}

void put(ByteWriter& out, const DecodeDone& done) {
  out.put(Kind::done);
  out.put(done.samples);
  put(out, done.losses);
  put(out, done.notes);
  put(out, done.gaps);
  out.put(done.track);
  put(out, done.tracks);
}

void put(ByteWriter& out, const DecodeFailed& failed) {
  out.put(Kind::failed);
  out.put(failed.error.fault);
  out.put(std::string_view(failed.error.what));
  out.put(std::string_view(failed.error.hint));
}

void get(ByteReader& in, std::vector<std::string>& texts) {
  std::uint32_t count = 0;
  in.get(count);
  for (; count > 0 && !in.failed(); --count) in.get(texts.emplace_back());
}

void get(ByteReader& in, std::vector<SampleRange>& ranges) {
  std::uint32_t count = 0;
  in.get(count);
  for (; count > 0 && !in.failed(); --count) {
    SampleRange& range = ranges.emplace_back();
    in.get(range.start);
    in.get(range.end);
  }
}

DecodeDone get_done(ByteReader& in) {
  DecodeDone done;
  in.get(done.samples);
  get(in, done.losses);
  get(in, done.notes);
  get(in, done.gaps);
  in.get(done.track);
  get(in, done.tracks);
  return done;
}

DecodeFailed get_failed(ByteReader& in) {
  DecodeFailed failed;
  in.get(failed.error.fault);
  in.get(failed.error.what);
  in.get(failed.error.hint);
  if (failed.error.fault < Fault::usage || failed.error.fault > Fault::internal) failed.error.fault = Fault::internal;
  return failed;
}

}  // namespace

std::string framed(const DecodeMessage& message) {
  ByteWriter body;
  std::visit([&](const auto& one) { put(body, one); }, message);
  ByteWriter whole;
  whole.put(std::string_view(body.take()));
  return whole.take();
}

Result<bool> DecodeInbox::next(DecodeMessage& message) {
  std::uint32_t size = 0;
  if (bytes_.size() < sizeof size) return false;
  std::memcpy(&size, bytes_.data(), sizeof size);
  const auto garbled = [] { return fail(Fault::device, "the decoder process sent a garbled message"); };
  if (size > kLongest) return garbled();
  if (bytes_.size() < sizeof size + size) return false;
  ByteReader in(std::string_view(bytes_).substr(sizeof size, size));
  Kind kind{};
  in.get(kind);
  if (kind == Kind::done) {
    message = get_done(in);
  } else if (kind == Kind::failed) {
    message = get_failed(in);
  } else {
    DecodeProgress progress;
    in.get(progress.samples);
    message = progress;
  }
  if (!in.finished() || kind > Kind::failed) return garbled();
  bytes_.erase(0, sizeof size + size);
  return true;
}

}  // namespace tutti
