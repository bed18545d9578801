#include "train/classifier/set_facts.h"

#include "base/field_names.h"
#include "base/files.h"
#include "base/json.h"

namespace tutti {
namespace {

using Json = nlohmann::ordered_json;

Json facts_of(const LabelledSet& set) {
  auto geometry = Json::parse(show_geometry(set.geometry()));
  geometry["longs"] = set.geometry().longs;
  geometry["shorts"] = set.geometry().shorts;
  return {{"labels", set.labels()}, {"geometry", std::move(geometry)}};
}

tl::unexpected<Error> other(const std::filesystem::path& out, const std::string& what, const Json& kept,
                            const Json& found) {
  return fail(
      Fault::usage,
      out.string() + ": the training began with " + what + " " + json_line(kept) + "; the set has " + json_line(found),
      "Go on with the set that the training began with, or name another folder with " + field("out"));
}

}  // namespace

Result<void> keep_set_facts(const std::filesystem::path& out, const LabelledSet& set) {
  return write_file_atomically(out / "set.json", facts_of(set).dump(1) + "\n");
}

Result<void> expect_kept_facts(const std::filesystem::path& out, const LabelledSet& set) {
  const auto text = read_file(out / "set.json");
  if (!text) return text.error().fault == Fault::missing ? Result<void>() : tl::unexpected<Error>(text.error());
  const auto kept = Json::parse(*text, nullptr, false);
  const auto found = facts_of(set);
  if (!kept.is_object() || !kept.contains("labels") || !kept.contains("geometry"))
    return fail(Fault::corrupt, (out / "set.json").string() + ": expected labels and geometry of the training's set");
  if (kept["labels"] != found["labels"]) return other(out, "the labels", kept["labels"], found["labels"]);
  for (const auto& [key, value] : found["geometry"].items())
    if (kept["geometry"].value(key, Json()) != value)
      return other(out, "the geometry's " + key, kept["geometry"].value(key, Json()), value);
  return {};
}

}  // namespace tutti
