#include "model/convert/openai_file.h"

#include <caffe2/serialize/inline_container.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/try.h"
#include "model/convert/converted_tensor.h"
#include "model/convert/file_on_the_way.h"
#include "model/convert/pickle_writer.h"
#include "text/files/vocabulary_files.h"

namespace tutti {
namespace {

const char* storage_of(WeightType type) {
  if (type == WeightType::float16) return "HalfStorage";
  return type == WeightType::bfloat16 ? "BFloat16Storage" : "FloatStorage";
}

/// {"dims": {...}, "model_state_dict": {...}}; the i-th tensor's bytes are the record data/i.
std::string description(const WhisperDims& d, const std::vector<NetworkTensor>& tensors, WeightType type) {
  const std::pair<const char*, std::int32_t> dims[] = {{"n_mels", d.n_mels},
                                                       {"n_vocab", d.n_vocab},
                                                       {"n_audio_ctx", d.n_audio_ctx},
                                                       {"n_audio_state", d.n_audio_state},
                                                       {"n_audio_head", d.n_audio_head},
                                                       {"n_audio_layer", d.n_audio_layer},
                                                       {"n_text_ctx", d.n_text_ctx},
                                                       {"n_text_state", d.n_text_state},
                                                       {"n_text_head", d.n_text_head},
                                                       {"n_text_layer", d.n_text_layer}};
  PickleWriter pickle;
  pickle.begin_dict();
  pickle.text("dims");
  pickle.begin_dict();
  for (const auto& [name, number] : dims) {
    pickle.text(name);
    pickle.number(number);
  }
  pickle.end_dict();
  pickle.text("model_state_dict");
  pickle.begin_dict();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    pickle.text(tensors[i].name);
    pickle.tensor(storage_of(type), std::to_string(i), tensors[i].stored->shape);
  }
  pickle.end_dict();
  pickle.end_dict();
  return std::move(pickle).finish();
}

Result<std::vector<std::byte>> bytes_of(const NetworkTensor& tensor,
                                        const std::shared_ptr<const Checkpoint>& checkpoint, WeightType type) {
  std::vector<std::byte> bytes;
  TRY(convert_tensor(*tensor.stored, tensor.name, checkpoint, type, [&](std::span<const std::byte> some) {
    bytes.insert(bytes.end(), some.begin(), some.end());
    return Result<void>();
  }));
  return bytes;
}

/// The archive. What `write` cannot write it keeps to itself: the archive goes on, and is thrown away.
Result<void> write_archive(const std::shared_ptr<const Checkpoint>& checkpoint,
                           const std::vector<NetworkTensor>& tensors, WeightType type,
                           const std::function<std::size_t(const void*, std::size_t)>& write) {
  caffe2::serialize::PyTorchStreamWriter archive(write);
  const auto pickle = description(checkpoint->shape.dims, tensors, type);
  archive.writeRecord("data.pkl", pickle.data(), pickle.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto bytes = TRY(bytes_of(tensors[i], checkpoint, type));
    archive.writeRecord("data/" + std::to_string(i), bytes.data(), bytes.size());
  }
  archive.writeEndOfFile();
  return {};
}

}  // namespace

Result<void> check_openai(const WhisperDims& dims) {
  return check_whisper_program("openai-whisper", dims);
}

Result<void> check_whisper_program(std::string_view program, const WhisperDims& d) {
  constexpr std::int32_t kPositions = 1500;
  if (d.n_audio_ctx == kPositions && d.n_vocab >= kEnglishVocabulary && d.n_vocab <= kLargeV3Vocabulary) return {};
  return fail(Fault::unsupported,
              std::string(program) +
                  " runs windows of 1500 positions and vocabularies of 51864 to 51866 tokens; this model has " +
                  std::to_string(d.n_audio_ctx) + " and " + std::to_string(d.n_vocab),
              "Convert it to a folder, for Hugging Face and Tutti: -o FOLDER");
}

Result<std::uint64_t> write_openai_file(const std::shared_ptr<const Checkpoint>& checkpoint,
                                        const std::vector<NetworkTensor>& tensors, WeightType type,
                                        const std::filesystem::path& path) {
  if (type == WeightType::int8 || type == WeightType::q8_0)
    return fail(Fault::usage, path.string() + ": OpenAI's files hold no " + std::string(name_of(type)) + " weights",
                "Take " + field("type") + " float16");
  auto file = TRY(FileOnTheWay::open_in(folder_of(path)));
  std::uint64_t size = 0;
  Result<void> written{};
  const auto write = [&](const void* bytes, std::size_t count) {
    if (written) written = write_all(file.fd(), {static_cast<const std::byte*>(bytes), count}, path.string());
    size += count;
    return count;
  };
  TRY(write_archive(checkpoint, tensors, type, write));
  if (written && ::fsync(file.fd()) != 0) written = fail_errno(path.string(), "could not be synced");
  if (written) written = file.put_at(path);
  TRY(written);
  return size;
}

}  // namespace tutti
