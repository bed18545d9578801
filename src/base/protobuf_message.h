#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"

namespace tutti {

/// A message of protocol buffers, field by field, in the order of the calls: what files of other programs need, without
/// that library.
class ProtobufMessage {
 public:
  /// An integer as a varint.
  ProtobufMessage& number(std::uint32_t field, std::uint64_t value) {
    key(field, kVarint);
    varint(value);
    return *this;
  }
  ProtobufMessage& real(std::uint32_t field, double value) { return fixed(field, kFixed64, value); }
  ProtobufMessage& real(std::uint32_t field, float value) { return fixed(field, kFixed32, value); }
  ProtobufMessage& text(std::uint32_t field, std::string_view value) {
    key(field, kBytes);
    varint(value.size());
    bytes_ += value;
    return *this;
  }
  ProtobufMessage& message(std::uint32_t field, const ProtobufMessage& value) { return text(field, value.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  enum Kind : std::uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  void key(std::uint32_t field, Kind kind) { varint(std::uint64_t{field} << 3 | kind); }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  template <class T>
  ProtobufMessage& fixed(std::uint32_t field, Kind kind, T value) {
    key(field, kind);
    ByteWriter writer;
    writer.put(value);
    bytes_ += writer.take();
    return *this;
  }

  std::string bytes_{};
};

}  // namespace tutti
