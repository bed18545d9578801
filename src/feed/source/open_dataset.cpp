#include <array>
#include <set>
#include <span>

#include "base/files.h"
#include "base/strings.h"
#include "feed/source/layouts.h"
#include "feed/source/line_index.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> no_split(const fs::path& data, const std::string& split) {
  return fail(Fault::missing, data.string() + ": has no split '" + split + "'",
              "Leave the split out, or make splits/" + split + ".csv, " + split + ".tsv or " + split + "/metadata.csv");
}

Result<std::unique_ptr<Dataset>> open_index(const fs::path& index, const fs::path& base,
                                            const std::vector<std::string>& fields) {
  ListRequest request{.folders = folders_of(base), .fields = fields};
  if (is_there(base / "transcripts")) request.transcripts = base / "transcripts";
  return open_rows(index, std::move(request));
}

bool is_json(const fs::path& index) {
  std::string ending = ascii_lower(index.extension().string());
  if (ending == ".gz") ending = ascii_lower(index.stem().extension().string());
  return ending == ".jsonl" || ending == ".ndjson" || ending == ".json";
}

bool is_table(const fs::path& index) {
  const std::string ending = ascii_lower(index.extension().string());
  return ending == ".csv" || ending == ".tsv" || ending == ".txt";
}

/// A table or JSON, by its ending.
Result<std::unique_ptr<Dataset>> open_file(const fs::path& index, const std::vector<std::string>& fields) {
  if (is_json(index)) return open_json(index, {.folders = {.base = index.parent_path()}, .fields = fields});
  if (is_table(index)) return open_index(index, index.parent_path(), fields);
  return fail(Fault::unsupported,
              index.string() + ": expected a folder, shards (.tar), or a manifest .csv, .tsv, .jsonl or .json");
}

/// The first of `names` that is in `folder`; empty: none is.
fs::path first_there(const fs::path& folder, std::span<const char* const> names) {
  for (const char* name : names)
    if (is_there(folder / name)) return folder / name;
  return {};
}

constexpr std::array kIndexes{"metadata.csv",      "metadata.tsv",   "metadata_train.csv",
                              "metadata_eval.csv", "manifest.jsonl", "metadata.jsonl"};
constexpr std::array kFolderIndexes{"metadata.csv", "metadata.jsonl", "metadata.tsv"};

/// What a split is called in the sets of others, the name that was given first.
std::vector<std::string> names_of_split(const std::string& split) {
  if (split == "validation") return {split, "valid", "val", "dev"};
  if (split == "train") return {split, "training"};
  return {split};
}

/// Where a split is listed: in splits/NAME.csv; a table of its own, as Common Voice has train.tsv; a folder of its own,
/// as Hugging Face's audiofolder has train/metadata.csv; or LJSpeech's metadata_train.csv. Empty: nowhere.
fs::path index_of_split(const fs::path& data, const std::string& split) {
  if (is_there(data / "splits" / (split + ".csv"))) return data / "splits" / (split + ".csv");
  for (const auto& name : names_of_split(split)) {
    for (const char* ending : {".tsv", ".csv", ".jsonl", ".jsonl.gz"})
      if (is_there(data / (name + ending))) return data / (name + ending);
    if (const auto index = first_there(data / name, kFolderIndexes); !index.empty()) return index;
  }
  const fs::path other = data / (split == "train" ? "metadata_train.csv" : "metadata_eval.csv");
  return is_there(other) ? other : fs::path();
}

/// What lists a folder's samples; empty: nothing does.
fs::path index_of_folder(const fs::path& data) {
  if (const auto index = first_there(data, kIndexes); !index.empty()) return index;
  constexpr std::array kCommonVoice{"validated.tsv", "train.tsv"};  // the first holds the second
  if (is_there(data / "clips"))
    if (const auto index = first_there(data, kCommonVoice); !index.empty()) return index;
  return first_there(data / "train", kFolderIndexes);
}

/// A table or manifest by its ending whose name is not one of those that are looked for.
fs::path other_table_in(const fs::path& data) {
  std::set<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(data, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    const std::string ending = ascii_lower(entry->path().extension().string());
    if (ending == ".csv" || ending == ".tsv" || (ending != ".json" && is_json(entry->path())))
      found.insert(entry->path());
  }
  return found.empty() ? fs::path() : *found.begin();
}

bool is_kaldi(const fs::path& folder) {
  return is_there(folder / "wav.scp") && is_there(folder / "text");
}

/// A set of other tools in a folder without a table: Kaldi's, or WebDataset's shards. Null: it has none.
Result<std::unique_ptr<Dataset>> open_other(const fs::path& data, const std::string& split,
                                            const std::vector<std::string>& fields) {
  for (const std::string& name : split.empty() ? std::vector<std::string>{""} : names_of_split(split)) {
    if (is_kaldi(data / name)) {
      if (fields.empty()) return open_kaldi(data / name);
      return fail(Fault::usage,
                  (data / name).string() + ": a folder of Kaldi's has no column '" + fields.front() + "'");
    }
    std::vector<std::string> shards;
    for (const fs::path& shard : shards_in(data, name)) shards.push_back(shard.string());
    if (!shards.empty()) return open_shards(shards, fields);
  }
  return nullptr;
}

Result<std::unique_ptr<Dataset>> open_folder(const fs::path& data, const std::string& split,
                                             const std::vector<std::string>& fields) {
  if (!split.empty()) {
    const fs::path index = index_of_split(data, split);
    if (index.empty()) {
      auto other = open_other(data, split, fields);
      if (other && !*other) return no_split(data, split);
      return other;
    }
    return index.parent_path() == data / "splits" ? open_index(index, data, fields) : open_file(index, fields);
  }
  if (const auto index = index_of_folder(data); !index.empty()) return open_file(index, fields);
  if (auto other = open_other(data, "", fields); !other || *other) return other;
  auto transcripts = open_transcripts(data);
  if (transcripts) return transcripts;
  if (const auto table = other_table_in(data); !table.empty())
    transcripts.error().hint = "Name the file that lists its recordings: " + table.string();
  return transcripts;
}

}  // namespace

fs::path table_in(const fs::path& folder) {
  fs::path index = index_of_folder(folder);
  const std::string ending = ascii_lower(index.extension().string());
  if (ending != ".csv" && ending != ".tsv") return index;
  const auto row = first_row_of(index);
  return row && separator_of(*row, ListContent::texts) != '|' && names_audio_and_content(*row, ListContent::texts)
             ? index
             : fs::path();
}

Result<std::unique_ptr<Dataset>> open_labelled_list(const fs::path& list, const fs::path& root) {
  ListRequest request{.content = ListContent::labels, .folders = {.base = root}};
  return is_json(list) ? open_json(list, std::move(request)) : open_rows(list, std::move(request));
}

Result<std::unique_ptr<Dataset>> open_dataset(const fs::path& data, const std::string& split,
                                              const std::vector<std::string>& fields) {
  std::error_code ignored;
  if (names_shards(data.string()) && !fs::is_directory(data, ignored))
    return split.empty() ? open_named_shards(data.string(), fields) : no_split(data, split);
  if (!is_there(data)) return fail(Fault::missing, data.string() + ": no such file or folder");
  if (fs::is_directory(data, ignored)) return open_folder(data, split, fields);
  if (!split.empty()) return no_split(data, split);
  return open_file(data, fields);
}

}  // namespace tutti
