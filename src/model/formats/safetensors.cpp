#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/json.h"
#include "base/try.h"
#include "model/formats/formats.h"

namespace tutti {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLongestHeader = 100'000'000;  // the format's own limit
constexpr std::size_t kMostDimensions = 16;

std::optional<ElementType> element_type(std::string_view name) {
  for (int type = 0; type <= static_cast<int>(ElementType::boolean); ++type) {
    if (name_of(static_cast<ElementType>(type)) == name) return static_cast<ElementType>(type);
  }
  return std::nullopt;
}

/// A list of non-negative integers, or nothing.
std::optional<std::vector<std::int64_t>> extents(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array() || found->size() > kMostDimensions) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const auto& item : *found) {
    if (!item.is_number_unsigned()) return std::nullopt;
    const auto value = item.get<std::uint64_t>();
    if (value > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    values.push_back(static_cast<std::int64_t>(value));
  }
  return values;
}

Result<StoredTensor> read_entry(const std::string& name, const json& entry, std::span<const std::byte> data) {
  const auto thing = "tensor '" + name + "'";
  if (!entry.is_object()) return fail(Fault::corrupt, thing + ": its header entry is not an object");
  const auto dtype = entry.find("dtype");
  if (dtype == entry.end() || !dtype->is_string()) return fail(Fault::corrupt, thing + ": no dtype in the header");
  const auto type = element_type(dtype->get<std::string>());
  if (!type) return fail(Fault::unsupported, thing + ": element type '" + dtype->get<std::string>() + "' is not known");
  auto shape = extents(entry, "shape");
  const auto offsets = extents(entry, "data_offsets");
  if (!shape) return fail(Fault::corrupt, thing + ": its shape is not a list of sizes");
  if (!offsets || offsets->size() != 2 || (*offsets)[0] > (*offsets)[1]) {
    return fail(Fault::corrupt, thing + ": data_offsets is not [begin, end]");
  }
  const auto begin = static_cast<std::size_t>((*offsets)[0]);
  const auto end = static_cast<std::size_t>((*offsets)[1]);
  if (end > data.size()) {
    return fail(Fault::corrupt,
                thing + ": its data ends at byte " + std::to_string(end) + " but the file has " +
                    std::to_string(data.size()) + " bytes of data",
                "The file is truncated: copy or download it again");
  }
  const auto needed = byte_count(*shape, *type);
  if (!needed || *needed != end - begin) {
    return fail(Fault::corrupt, thing + ": " + std::string(name_of(*type)) + " " + shape_text(*shape) +
                                    " does not take " + std::to_string(end - begin) + " bytes");
  }
  return StoredTensor{name, *type, std::move(*shape), data.subspan(begin, end - begin)};
}

/// The format forbids gaps and overlaps; both are signs of a damaged header.
Result<void> check_tiling(const std::vector<StoredTensor>& tensors, std::span<const std::byte> data) {
  std::vector<const StoredTensor*> order;
  for (const auto& tensor : tensors) order.push_back(&tensor);
  std::ranges::sort(order, {},
                    [](const StoredTensor* tensor) { return std::pair(tensor->bytes.data(), tensor->bytes.size()); });
  const std::byte* at = data.data();
  for (const auto* tensor : order) {
    if (tensor->bytes.data() != at) {
      const char* what = tensor->bytes.data() < at ? "overlaps the tensor before it" : "leaves a gap before it";
      return fail(Fault::corrupt, "tensor '" + tensor->name + "': its data " + what);
    }
    at += tensor->bytes.size();
  }
  const auto left = data.data() + data.size() - at;
  if (left != 0) return fail(Fault::corrupt, std::to_string(left) + " bytes after the last tensor belong to none");
  return {};
}

}  // namespace

Result<std::vector<StoredTensor>> parse_safetensors(std::span<const std::byte> file) {
  std::uint64_t length = 0;
  if (file.size() < sizeof length) return fail(Fault::corrupt, "too short to be a safetensors file");
  std::memcpy(&length, file.data(), sizeof length);
  const auto rest = file.subspan(sizeof length);
  if (length > kLongestHeader || length > rest.size()) {
    return fail(Fault::corrupt, "the header claims " + std::to_string(length) + " bytes, the file has " +
                                    std::to_string(rest.size()) + " after it");
  }
  const auto* text = reinterpret_cast<const char*>(rest.data());
  const auto header = json::parse(text, text + length, nullptr, false);
  if (!header.is_object()) return fail(Fault::corrupt, "the header is not a JSON object");

  const auto data = rest.subspan(static_cast<std::size_t>(length));
  std::vector<StoredTensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    auto tensor = TRY(read_entry(name, entry, data));
    tensors.push_back(std::move(tensor));
  }
  TRY(check_tiling(tensors, data));
  return tensors;
}

}  // namespace tutti
