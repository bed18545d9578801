#include "link/wire.h"

#include <concepts>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/bytes.h"
#include "link/message_fields.h"

namespace tutti {
namespace {

constexpr std::uint8_t kVersionBits = static_cast<std::uint8_t>((kProtocolVersion % 16) << 4);

// How many initialisers an aggregate takes: counts its fields, so that a layout that forgets one does not compile.
template <class T>
concept IsOptional = requires(T value) {
  requires std::same_as<T, std::optional<typename T::value_type>>;
};
struct Anything {
  template <class T>
  requires(!IsOptional<T>)  // which is made of its value: two ways to make it are one too many
  operator T() const;
};
template <class Message, class... Some>
constexpr std::size_t count_fields() {
  if constexpr (requires { Message{Some{}..., Anything{}}; })
    return count_fields<Message, Some..., Anything>();
  else
    return sizeof...(Some);
}
template <class Message>
constexpr bool kLayoutIsComplete =
    count_fields<Message>() == std::tuple_size_v<std::remove_cvref_t<decltype(Layout<Message>::kFields)>>;

template <class Message, class Visit>
void for_each_field(const Visit& visit) {
  static_assert(kLayoutIsComplete<Message>, "message_fields.h must list every field of the message");
  std::apply([&](const auto&... fields) { (visit(fields), ...); }, Layout<Message>::kFields);
}

void put_field(ByteWriter& out, const std::string& text, std::uint64_t limit) {
  out.put(std::string_view(text).substr(0, limit));
}

template <class T>
concept HasLength = requires(const T& value) {
  value.size();
};

template <class T>
void put_field(ByteWriter& out, const T& value, std::uint64_t limit) {
  if constexpr (HasFields<T>) {
    for_each_field<T>([&](const auto& field) { put_field(out, value.*field.at, field.limit); });
  } else if constexpr (IsOptional<T>) {
    out.put(value.has_value());
    if (value) out.put(*value);
  } else {
    if constexpr (HasLength<T>)
      if (value.size() > limit) throw std::length_error("a list in a message is longer than the receiver takes");
    out.put(value);
  }
}

template <class T>
void get_field(ByteReader& in, T& value) {
  in.get(value);
}

template <class T>
void get_field(ByteReader& in, std::optional<T>& value) {
  value.reset();
  bool has_value = false;
  in.get(has_value);
  if (has_value) in.get(value.emplace());
}

template <class Variant>
std::string encode_variant(const Variant& message) {
  static_assert(std::variant_size_v<Variant> <= 16, "the kind has four bits");
  ByteWriter out;
  out.put(static_cast<std::uint8_t>(kVersionBits | message.index()));
  std::visit([&](const auto& fields) { put_field(out, fields, 0); }, message);
  return out.take();
}

// One message being taken apart. The first thing that is wrong is kept; after it nothing is read any more.
class Decoding {
 public:
  Decoding(std::string_view bytes, std::string_view message)
      : in_(bytes.substr(1)), size_(bytes.size()), message_(message) {}

  template <class Message>
  void read(Message& message) {
    for_each_field<Message>([&](const auto& field) {
      if constexpr (HasFields<std::remove_cvref_t<decltype(message.*field.at)>>)
        read(message.*field.at);
      else
        read(message, field);
    });
  }

  template <class Message, class Value>
  void read(Message& message, const Field<Message, Value>& field) {
    if (!wrong_.empty()) return;
    const std::size_t start = offset();
    if (!length_is_sane<Value>(field.limit)) {
      blame(field.name, start, "is longer than its limit of " + std::to_string(field.limit));
      return;
    }
    Value& value = message.*field.at;
    get_field(in_, value);
    if (in_.failed())
      blame(field.name, start, "does not fit into the message or is out of range");
    else if (!value_is_sane(value, field.limit))
      blame(field.name, start, "is out of range");
  }

  Result<void> finish() {
    if (wrong_.empty() && in_.left() > 0)
      wrong_ = std::to_string(in_.left()) + " bytes are left over at offset " + std::to_string(offset());
    if (wrong_.empty()) return {};
    return fail(Fault::corrupt,
                "message " + std::string(message_) + " of " + std::to_string(size_) + " bytes: " + wrong_);
  }

 private:
  std::size_t offset() const { return size_ - in_.left(); }

  // Looks at a text's or list's length before it is read: nothing is allocated for one that is too long.
  template <class Value>
  bool length_is_sane(std::uint64_t limit) const {
    if constexpr (!HasLength<Value>) return true;
    ByteReader peek = in_;
    std::uint32_t length = 0;
    peek.get(length);
    return length <= limit;
  }

  template <class Value>
  static bool value_is_sane(const Value& value, std::uint64_t limit) {
    if constexpr (std::is_enum_v<Value>) return static_cast<std::uint64_t>(value) <= limit;
    if constexpr (std::is_unsigned_v<Value> && !std::is_same_v<Value, bool>) return value <= limit;
    return true;
  }

  void blame(std::string_view field, std::size_t at, const std::string& what) {
    wrong_ = std::string(field) + " at offset " + std::to_string(at) + " " + what;
  }

  ByteReader in_;
  std::size_t size_;
  std::string_view message_;
  std::string wrong_;
};

template <class Variant, std::size_t kind = 0>
Result<Variant> decode_kind(std::string_view bytes, std::size_t wanted) {
  if constexpr (kind == std::variant_size_v<Variant>) {
    return fail(Fault::corrupt, "message of unknown kind " + std::to_string(wanted) + " at offset 0");
  } else {
    if (kind != wanted) return decode_kind<Variant, kind + 1>(bytes, wanted);
    using Message = std::variant_alternative_t<kind, Variant>;
    Message message;
    Decoding decoding(bytes, Layout<Message>::kName);
    decoding.read(message);
    if (auto done = decoding.finish(); !done) return tl::unexpected<Error>(std::move(done.error()));
    return Variant(std::in_place_index<kind>, std::move(message));
  }
}

template <class Variant>
Result<Variant> decode_variant(std::string_view bytes) {
  if (bytes.empty()) return fail(Fault::corrupt, "empty message: expected a tag byte at offset 0");
  const auto tag = static_cast<std::uint8_t>(bytes.front());
  if ((tag & 0xf0) != kVersionBits)
    return fail(Fault::corrupt,
                "message of protocol " + std::to_string(tag >> 4) + " at offset 0: this build speaks " +
                    std::to_string(kVersionBits >> 4),
                "tutti and tutti-engine must come from one build");
  return decode_kind<Variant>(bytes, tag & 0x0f);
}

template <class Variant>
std::string_view name_of_variant(const Variant& message) {
  return std::visit([]<class Message>(const Message&) { return Layout<Message>::kName; }, message);
}

}  // namespace

std::string encode_message(const ToWorker& message) {
  return encode_variant(message);
}
std::string encode_message(const ToControl& message) {
  return encode_variant(message);
}
Result<ToWorker> decode_to_worker(std::string_view bytes) {
  return decode_variant<ToWorker>(bytes);
}
Result<ToControl> decode_to_control(std::string_view bytes) {
  return decode_variant<ToControl>(bytes);
}
std::string_view name_of(const ToWorker& message) {
  return name_of_variant(message);
}
std::string_view name_of(const ToControl& message) {
  return name_of_variant(message);
}

}  // namespace tutti
