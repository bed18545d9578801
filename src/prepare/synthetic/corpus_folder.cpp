#include "prepare/synthetic/corpus_folder.h"

#include "base/field_names.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "base/output_ownership.h"
#include "base/try.h"

namespace tutti {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = "synth.lock";

Result<void> check_empty(const CorpusFolder& folder) {
  const auto& out = folder.out;
  if (is_there(out / folder.list))
    return fail(Fault::usage, out.string() + ": holds a corpus already", "Name another folder, or remove it");
  if (is_there(out / kLock)) return {};  // lock of a corpus that another process writes, or a killed one began
  for (const char* name : folder.parts)
    if (auto own = expect_no_files(out / name); !own) return own;
  return {};
}

}  // namespace

Result<void> write_corpus(const CorpusFolder& folder, const std::function<Result<void>()>& write) {
  const auto& out = folder.out;
  const fs::path lock = out / kLock;
  TRY(check_empty(folder));
  for (const char* name : folder.parts) TRY(make_folders(out / name));
  const auto hold = TRY(take_hold({.file = lock,
                                   .other = out.string() + ": another process is writing a corpus into this folder",
                                   .unnoticed = "a second process that writes into " + out.string(),
                                   .way_out = "Wait for it to end, or name another folder with " + field("out")}));
  const auto ready = check_empty(folder);  // another process may have ended between the look and the hold
  const auto written = ready ? write() : ready;
  // No part of a corpus. A process that waits with the file that goes here finds the corpus; where there is none, it
  // stays.
  std::error_code ignored;
  if (written || !ready) fs::remove(lock, ignored);
  return written;
}

}  // namespace tutti
