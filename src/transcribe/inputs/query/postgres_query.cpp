#include <charconv>

#include "base/try.h"
#include "postgres/connection.h"
#include "transcribe/inputs/query/query.h"

namespace tutti {
namespace {

/// Types by their object ids, which are part of the server's protocol (pg_type.dat).
ManifestValue value_of(const std::string& text, unsigned type) {
  constexpr unsigned kBool = 16, kInt8 = 20, kInt2 = 21, kInt4 = 23, kFloat4 = 700, kFloat8 = 701, kNumeric = 1700;
  const auto whole = [&](auto number) -> ManifestValue {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return text;
    return number;
  };
  switch (type) {
    case kBool: return text == "t";
    case kInt2:
    case kInt4:
    case kInt8: return whole(std::int64_t{});
    case kFloat4:
    case kFloat8:
    case kNumeric: return whole(double{});
    default: return text;
  }
}

ManifestAsset asset_of(const postgres::Answer& answer) {
  ManifestAsset asset;
  for (int column = 0; column < answer.columns(); ++column) {
    ManifestField field{answer.name(column), {}};
    if (answer.has(0, column)) field.value = value_of(std::string(answer.bytes(0, column)), answer.type(column));
    asset.push_back(std::move(field));
  }
  return asset;
}

}  // namespace

Result<void> query_postgres(const std::string& connection, const std::string& query, const OnAsset& on_asset) {
  auto server = TRY(postgres::Connection::open(connection));
  if (const auto begun = server.script("BEGIN READ ONLY"); !begun)
    return fail(Fault::unavailable, "PostgreSQL: " + begun.error().text);
  const auto done = server.stream(query, [&](const postgres::Answer& answer) { return on_asset(asset_of(answer)); });
  if (done) return {};
  if (done.error().is_lost) return fail(Fault::unavailable, "PostgreSQL: " + done.error().text);
  return fail(Fault::usage, "PostgreSQL: " + done.error().text, "Expected one query that answers with rows");
}

}  // namespace tutti
