#include "jobs/object_outputs.h"

#include <algorithm>

#include "base/files.h"
#include "base/sha256.h"
#include "base/try.h"

namespace tutti {

bool is_object(const std::filesystem::path& path) {
  return path.native().starts_with("s3://");
}

Result<ObjectOutputs*> expect_objects(ObjectOutputs* objects, const std::filesystem::path& path) {
  if (objects) return objects;
  return fail(Fault::unsupported, path.string() + ": this program has no way to buckets",
              "'tutti batch' and 'tutti worker' have one");
}

Result<std::string> read_output(ObjectOutputs* objects, const std::filesystem::path& path) {
  if (!is_object(path)) return read_file(path);
  return TRY(expect_objects(objects, path))->read(path);
}

Result<Occupant> occupant_of_output(ObjectOutputs* objects, const std::filesystem::path& path,
                                    const std::vector<KnownContent>& known) {
  if (!is_object(path)) return occupant_of(path, known);
  auto* reached = TRY(expect_objects(objects, path));
  const auto facts = TRY(reached->look(path));
  if (!facts) return Occupant::none;
  if (std::ranges::find(known, facts->bytes, &KnownContent::bytes) == known.end()) return Occupant::other;
  const auto content = TRY(reached->read(path));
  const KnownContent found{sha256_of(content), static_cast<std::int64_t>(content.size())};
  return std::ranges::find(known, found) == known.end() ? Occupant::other : Occupant::known;
}

Result<bool> is_whole_output(ObjectOutputs* objects, const std::filesystem::path& path, const JobOutput& output) {
  const auto occupant = TRY(occupant_of_output(objects, path, {{output.sha256, output.bytes}}));
  return occupant == Occupant::known;
}

}  // namespace tutti
