#include "text/manifest/write.h"

#include <cmath>

#include "base/json.h"
#include "base/output_ownership.h"
#include "base/sha256.h"
#include "text/json_bytes.h"
#include "text/manifest/record.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const ManifestValue& value) {
  return std::visit(
      [](const auto& held) -> Json {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return nullptr;
        else if constexpr (std::is_same_v<T, double>)
          return std::isfinite(held) ? Json(held) : Json(nullptr);
        else
          return held;
      },
      value);
}

}  // namespace

std::string manifest_text(std::span<const ManifestAsset> assets, const std::string& exported_at) {
  Json list = Json::array();
  for (const auto& asset : assets) {
    Json object = Json::object();
    for (const auto& field : asset) object[field.name] = json_of(field.value);
    list.push_back(std::move(object));
  }
  const Json manifest{{"format", kManifestMark},
                      {"count", assets.size()},
                      {"exported_at", exported_at},
                      {"filter", nullptr},
                      {"assets", std::move(list)}};
  return json_keeping_bytes(manifest, 2) + "\n";
}

std::string uuid_of(const std::string& text) {
  std::string digits = sha256_of(text).substr(0, 32);
  digits[12] = '8';
  digits[16] = "89ab"[digits[16] % 4];
  return normalised_uuid(digits);
}

}  // namespace tutti
