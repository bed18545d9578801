#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <variant>

#include "transcribe/batched_file.h"
#include "transcribe/file_transcription.h"
#include "transcribe/mel_source.h"

namespace tutti {

/// A file that one thread works off from its start to its end.
struct SequentialWork {
  DecodedFile file;
  float maximum = 0;  // LogMel::maximum of its recording
};

/// One chunk of a file, its mel computed ahead.
struct ChunkWork {
  std::shared_ptr<BatchedFile> file;
  std::size_t chunk = 0;
  ChunkMel mel;
};

/// What the threads of the transcribe stage take up: each holds one window in flight at most.
using Work = std::variant<SequentialWork, ChunkWork>;

/// Hands work on; false: nobody takes it any more.
using HandOn = std::function<bool(Work&&)>;

/// Which file a piece of work belongs to, by its place on the command line.
std::size_t file_of(const Work& work);

/// The whole file as one piece of work, for the reference's loop.
Result<Work> prepare_sequential(DecodedFile file, const TranscriptionContext& context);

/// Cuts a file into chunks and hands them on one by one, in order, as `hand_on` takes them: no more mel is held than
/// it lets through. A file that fails on the way yields its error once: from here, or from the last of its work in
/// flight.
Result<void> prepare_chunks(DecodedFile file, const TranscriptionContext& context, const HandOn& hand_on);

/// Does the work. Yields the file when this was the last of its work, or what it failed with. Blocks; any number of
/// threads.
std::optional<Result<TranscribedFile>> do_work(Work work, const TranscriptionContext& context);

/// Work that is not to be done because of `why`; yields what do_work would.
std::optional<Result<TranscribedFile>> drop_work(const Work& work, const Error& why);

}  // namespace tutti
