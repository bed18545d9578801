#include <array>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/try.h"
#include "model/formats/formats.h"

namespace tutti {
namespace {

constexpr std::uint32_t kOldest = 4;  // the first to name element types; Whisper came after it
constexpr std::uint32_t kNewest = 6;

/// Length (with the closing zero), characters, zero.
std::string text_in(ByteReader& reader) {
  const auto text = reader.bytes(reader.number<std::uint16_t>());
  return std::string(text.substr(0, text.empty() ? 0 : text.size() - 1));
}

std::optional<ElementType> element_type(std::uint8_t id) {
  constexpr std::array kTypes{ElementType::f32, ElementType::i8,  ElementType::i16,
                              ElementType::i32, ElementType::f16, ElementType::bf16};
  return id < kTypes.size() ? std::optional(kTypes[id]) : std::nullopt;
}

Result<StoredTensor> read_variable(ByteReader& reader, std::uint32_t index) {
  StoredTensor tensor{.name = text_in(reader)};
  const auto thing = "variable " + std::to_string(index) + " '" + tensor.name + "'";
  const auto rank = reader.number<std::uint8_t>();
  for (int i = 0; i < rank && !reader.failed(); ++i) tensor.shape.push_back(reader.number<std::uint32_t>());
  const auto type = element_type(reader.number<std::uint8_t>());
  const std::size_t size = reader.number<std::uint32_t>();
  if (reader.failed()) return fail(Fault::corrupt, thing + ": the file ends in its description", "It is truncated");
  if (!type) return fail(Fault::unsupported, thing + ": its element type is not known");
  tensor.type = *type;
  if (byte_count(tensor.shape, *type) != size)
    return fail(Fault::corrupt, thing + ": " + std::string(name_of(*type)) + " " + shape_text(tensor.shape) +
                                    " does not take " + std::to_string(size) + " bytes");
  const std::size_t left = reader.left();
  tensor.bytes = std::as_bytes(std::span(reader.bytes(size)));
  if (reader.failed())
    return fail(Fault::corrupt,
                thing + " " + shape_text(tensor.shape) + ": takes " + std::to_string(size) +
                    " bytes, but the file has only " + std::to_string(left) + " more",
                "The file is truncated: get it again");
  return tensor;
}

/// The same tensor under another name; its scale, if it has one, too.
Result<void> add_alias(Ctranslate2Variables& variables, const std::string& alias, const std::string& target) {
  const auto found = variables.by_name.find(target);
  if (found == variables.by_name.end())
    return fail(Fault::corrupt, "alias '" + alias + "' stands for '" + target + "', which is not there");
  variables.by_name.try_emplace(alias, found->second);
  if (const auto scale = variables.by_name.find(target + "_scale"); scale != variables.by_name.end())
    variables.by_name.try_emplace(alias + "_scale", scale->second);
  return {};
}

Result<void> read_aliases(ByteReader& reader, Ctranslate2Variables& variables) {
  const auto count = reader.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    const auto alias = text_in(reader);
    const auto target = text_in(reader);
    if (reader.failed()) break;
    if (auto added = add_alias(variables, alias, target); !added) return added;
  }
  if (reader.failed()) return fail(Fault::corrupt, "the file ends in its list of aliases", "It is truncated");
  if (reader.left() != 0)
    return fail(Fault::corrupt, std::to_string(reader.left()) + " bytes after the last alias belong to nothing");
  return {};
}

}  // namespace

Result<Ctranslate2Variables> parse_ctranslate2(std::span<const std::byte> file) {
  ByteReader reader(file);
  const auto version = reader.number<std::uint32_t>();
  if (reader.failed() || version < kOldest || version > kNewest)
    return fail(Fault::unsupported, "not a CTranslate2 model of binary version 4 to 6");
  Ctranslate2Variables variables{.spec = text_in(reader), .revision = reader.number<std::uint32_t>()};
  const auto count = reader.number<std::uint32_t>();
  if (reader.failed()) return fail(Fault::corrupt, "the file ends in its header", "It is truncated");
  for (std::uint32_t i = 0; i < count; ++i) {
    auto tensor = TRY(read_variable(reader, i));
    auto name = tensor.name;
    const auto [at, fresh] = variables.by_name.try_emplace(std::move(name), std::move(tensor));
    if (!fresh) return fail(Fault::corrupt, "variable '" + at->first + "' is there twice");
  }
  TRY(read_aliases(reader, variables));
  return variables;
}

}  // namespace tutti
