#include "train/checkpoint/folder_lock.h"

#include "base/file_lock.h"
#include "base/files.h"
#include "feed/recipe/checkpoint_names.h"

namespace tutti {

Result<OwnedFd> hold_folder(const std::filesystem::path& out, Seconds patience) {
  if (auto made = make_folders(out); !made) return tl::unexpected<Error>(made.error());
  return take_hold({.file = out / kTrainingLock,
                    .other = out.string() + ": another process is training into this folder",
                    .unnoticed = "a second training into " + out.string(),
                    .way_out = "Wait for it to end, or name another folder with --out",
                    .patience = patience});
}

}  // namespace tutti
