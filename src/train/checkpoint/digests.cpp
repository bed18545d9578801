#include "train/checkpoint/digests.h"

#include "base/files.h"
#include "base/json.h"
#include "feed/cache/cache_key.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kName = "digests.json";

Result<std::string> digest_of(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  if (!file) return tl::unexpected<Error>(file.error());
  return hex_of(cache_key(file->bytes(), {}));
}

/// As digests.json keeps them; none where an older version wrote the folder.
Result<Json> digests_in(const std::filesystem::path& folder) {
  if (!is_there(folder / kName)) return Json::object();
  const auto text = read_file(folder / kName);
  if (!text) return tl::unexpected<Error>(text.error());
  auto digests = Json::parse(*text, nullptr, false);
  if (!digests.is_object()) return fail(Fault::corrupt, (folder / kName).string() + ": expected a JSON object");
  return digests;
}

}  // namespace

Result<void> write_digests(const std::filesystem::path& folder, const std::vector<std::string>& files,
                           const std::vector<std::string>& others) {
  Json digests;
  for (const auto& name : others) digests[name] = nullptr;
  for (const auto& name : files) {
    const auto digest = digest_of(folder / name);
    if (!digest) return tl::unexpected<Error>(digest.error());
    digests[name] = *digest;
  }
  return write_file_atomically(folder / kName, digests.dump(1) + "\n");
}

std::set<std::string> written_files(const std::filesystem::path& folder) {
  const auto digests = digests_in(folder);
  std::set<std::string> names;
  if (!digests || digests->empty()) return names;
  for (const auto& [name, digest] : digests->items()) names.insert(name);
  names.insert(kName);
  return names;
}

Result<void> renew_digest(const std::filesystem::path& folder, const std::string& file) {
  auto digests = digests_in(folder);
  if (!digests) return tl::unexpected<Error>(digests.error());
  if (digests->empty()) return {};
  const auto digest = digest_of(folder / file);
  if (!digest) return tl::unexpected<Error>(digest.error());
  (*digests)[file] = *digest;
  return write_file_atomically(folder / kName, digests->dump(1) + "\n");
}

Result<void> check_digests(const std::filesystem::path& folder) {
  const auto digests = digests_in(folder);
  if (!digests) return tl::unexpected<Error>(digests.error());
  for (const auto& [name, wanted] : digests->items()) {
    if (wanted.is_null()) continue;
    const auto found = digest_of(folder / name);
    if (!found) return tl::unexpected<Error>(found.error());
    if (wanted != *found)
      return fail(Fault::corrupt, (folder / name).string() + ": damaged, it does not hold what was written to it");
  }
  return {};
}

}  // namespace tutti
