#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tutti {

/// Appends little-endian values to a byte string. Lengths are 32 bits.
class ByteWriter {
 public:
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void put(T value) {
    const auto at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  void put(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    bytes_.append(text);
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what ByteWriter wrote and trusts nothing: a read past the end fails, sticks, and yields zeros. So a message is
/// taken apart first and checked once by `finished()`. Reads other programs' little-endian files as well (`number`,
/// `bytes`). Views what it is given. One thread.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  explicit ByteReader(std::span<const std::byte> bytes)
      : bytes_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void get(T& value) {
    value = T{};
    if (const char* from = take(sizeof value)) std::memcpy(&value, from, sizeof value);
  }
  void get(bool& value) {
    std::uint8_t byte = 0;
    get(byte);
    failed_ |= byte > 1;
    value = byte == 1;
  }
  void get(std::string& text) {
    std::uint32_t size = 0;
    get(size);
    const char* from = take(size);
    text.assign(from ? from : "", from ? size : 0);
  }
  template <class T>
  requires std::is_arithmetic_v<T>
  void get(std::vector<T>& values) {
    std::uint32_t count = 0;
    get(count);
    values.clear();
    // Checked before the allocation: a garbled count must not request gigabytes.
    const char* from = take(std::size_t{count} * sizeof(T));
    if (!from) return;
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), from, count * sizeof(T));
  }

  template <class T>
  T number() {
    T value{};
    get(value);
    return value;
  }
  /// The next `count` bytes, not copied; none where there are fewer.
  std::string_view bytes(std::size_t count) {
    const char* from = take(count);
    return from ? std::string_view(from, count) : std::string_view();
  }

  bool failed() const { return failed_; }
  /// Bytes not read yet.
  std::size_t left() const { return bytes_.size(); }
  /// Everything was read, and nothing past the end was requested.
  bool finished() const { return !failed_ && bytes_.empty(); }

 private:
  const char* take(std::size_t size) {
    if (failed_ || size > bytes_.size()) {
      failed_ = true;
      return nullptr;
    }
    const char* from = bytes_.data();
    bytes_.remove_prefix(size);
    return from;
  }

  std::string_view bytes_;
  bool failed_ = false;
};

}  // namespace tutti
