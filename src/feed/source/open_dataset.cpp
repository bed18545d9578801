#include <fstream>

#include "base/files.h"
#include "feed/source/table.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> no_split(const fs::path& data, const std::string& split) {
  return fail(Fault::missing, data.string() + ": has no split '" + split + "'",
              "Leave the split out, or make splits/" + split + ".csv");
}

/// The first line tells `a,b,c` from `a|b|c`.
bool is_barred(const fs::path& index) {
  std::ifstream in(index);
  std::string line;
  std::getline(in, line);
  return line.find('|') != std::string::npos;
}

Result<std::unique_ptr<Dataset>> open_index(const fs::path& index, const fs::path& base,
                                            const std::vector<std::string>& fields) {
  if (is_barred(index)) {
    if (!fields.empty())
      return fail(Fault::usage, index.string() + ": LJSpeech's layout has no column '" + fields.front() + "'");
    return open_ljspeech(index);
  }
  TableFolders folders{base, {}, {}};
  if (is_there(base / "audio")) folders.audio = base / "audio";
  if (is_there(base / "transcripts")) folders.transcripts = base / "transcripts";
  return open_table(index, std::move(folders), fields);
}

Result<std::unique_ptr<Dataset>> open_folder(const fs::path& data, const std::string& split,
                                             const std::vector<std::string>& fields) {
  if (!split.empty()) {
    const std::string other = split == "train" ? "metadata_train.csv" : "metadata_eval.csv";
    for (const fs::path& index : {data / "splits" / (split + ".csv"), data / other})
      if (is_there(index)) return open_index(index, data, fields);
    return no_split(data, split);
  }
  for (const char* name : {"metadata.csv", "metadata_train.csv", "metadata_eval.csv"})
    if (is_there(data / name)) return open_index(data / name, data, fields);
  for (const char* name : {"manifest.jsonl", "metadata.jsonl"})
    if (is_there(data / name)) return open_json_lines(data / name, fields);
  return open_transcripts(data);
}

}  // namespace

Result<std::unique_ptr<Dataset>> open_dataset(const fs::path& data, const std::string& split,
                                              const std::vector<std::string>& fields) {
  if (!is_there(data)) return fail(Fault::missing, data.string() + ": no such file or folder");
  std::error_code ignored;
  if (fs::is_directory(data, ignored)) return open_folder(data, split, fields);
  if (!split.empty()) return no_split(data, split);
  const std::string ending = data.extension().string();
  if (ending == ".jsonl" || ending == ".json") return open_json_lines(data, fields);
  if (ending == ".csv" || ending == ".tsv" || ending == ".txt") return open_index(data, data.parent_path(), fields);
  return fail(Fault::unsupported, data.string() + ": expected a folder, or a manifest .csv, .tsv or .jsonl");
}

}  // namespace tutti
