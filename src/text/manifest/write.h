#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tutti {

/// A field of an asset: nothing, a truth value, a number or text, whose bytes are kept (text/json_bytes.h).
using ManifestValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
struct ManifestField {
  std::string name{};
  ManifestValue value{};
};
using ManifestAsset = std::vector<ManifestField>;

/// Note 000's manifest of these assets, newest first, as read_manifest takes it. `exported_at` is a date in ISO 8601,
/// UTC without a zone. Indented by two, non-ASCII kept, one line at the end.
std::string manifest_text(std::span<const ManifestAsset> assets, const std::string& exported_at);

/// A UUID (version 8, RFC 9562) that is always the same for the same text: an id for what has none of its own.
std::string uuid_of(const std::string& text);

}  // namespace tutti
