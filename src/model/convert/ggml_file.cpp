#include "model/convert/ggml_file.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/bytes.h"
#include "base/field_names.h"
#include "base/files.h"
#include "base/try.h"
#include "model/convert/openai_file.h"
#include "model/weights.h"

namespace tutti {
namespace {

constexpr std::size_t kBlock = 32;
constexpr std::int32_t kMagic = 0x67676d6c;  // "ggml"
constexpr std::int32_t kBins = 201;          // of a spectrum of 400 samples

/// ggml's number of the type that most tensors have, with the version of its blocks before it.
std::int32_t file_type(WeightType type) {
  constexpr std::int32_t kQ8File = 7, kBlockVersion = 2, kVersionFactor = 1000;
  if (type == WeightType::q8_0) return kBlockVersion * kVersionFactor + kQ8File;
  return type == WeightType::float16 ? 1 : 0;
}

/// ggml's numbers of element types.
std::int32_t type_number(ElementType type) {
  constexpr std::int32_t kQ8 = 8;
  if (type == ElementType::q8_0) return kQ8;
  return type == ElementType::f16 ? 1 : 0;
}

ElementType element_type(const NetworkTensor& tensor, WeightType type) {
  const auto rank = tensor.stored->shape.size();
  if (type == WeightType::float32 || rank < 2 || tensor.name.ends_with("positional_embedding")) return ElementType::f32;
  return type == WeightType::q8_0 && rank == 2 ? ElementType::q8_0 : ElementType::f16;
}

Result<void> expect_whole_blocks(const std::vector<NetworkTensor>& tensors, WeightType type) {
  for (const auto& tensor : tensors)
    if (element_type(tensor, type) == ElementType::q8_0 && !byte_count(tensor.stored->shape, ElementType::q8_0))
      return fail(Fault::unsupported,
                  "tensor '" + tensor.stored->name + "' " + shape_text(tensor.stored->shape) +
                      ": q8_0 has blocks of 32, and its rows are of another length",
                  "Take " + field("type") + " float16");
  return {};
}

/// Numbers, mel filters and the tokens of text.
std::string head_of(const WhisperDims& d, WeightType type, const Tokenizer& tokenizer, std::span<const float> filters) {
  ByteWriter head;
  for (const std::int32_t number :
       {kMagic, d.n_vocab, d.n_audio_ctx, d.n_audio_state, d.n_audio_head, d.n_audio_layer, d.n_text_ctx,
        d.n_text_state, d.n_text_head, d.n_text_layer, d.n_mels, file_type(type), d.n_mels, kBins})
    head.put(number);
  for (const float weight : filters) head.put(weight);
  const std::int32_t tokens = tokenizer.special().eot;  // those of text are before it
  head.put(tokens);
  for (std::int32_t id = 0; id < tokens; ++id) head.put(tokenizer.bytes_of(id));
  return head.take();
}

/// Dimensions, length of the name, type, extents (the fastest first), name.
std::string description_of(const NetworkTensor& tensor, ElementType type) {
  auto shape = tensor.stored->shape;
  if (tensor.name == "encoder.conv1.bias" || tensor.name == "encoder.conv2.bias") shape.push_back(1);
  ByteWriter out;
  out.put(static_cast<std::int32_t>(shape.size()));
  out.put(static_cast<std::int32_t>(tensor.name.size()));
  out.put(type_number(type));
  std::ranges::reverse(shape);
  for (const auto extent : shape) out.put(static_cast<std::int32_t>(extent));
  return out.take() + tensor.name;
}

using Take = std::function<Result<void>(std::span<const std::byte>)>;

/// The matrix in blocks; one that has them already keeps them.
Result<void> take_blocks(const NetworkTensor& tensor, const std::shared_ptr<const Checkpoint>& owner,
                         const Take& take) {
  if (tensor.stored->type == ElementType::q8_0) return take(tensor.stored->bytes);
  return convert_tensor(*tensor.stored, tensor.name, owner, WeightType::float32, [&](std::span<const std::byte> wide) {
    const c10::InferenceMode no_autograd;
    std::vector<float> values(wide.size() / sizeof(float));
    std::memcpy(values.data(), wide.data(), wide.size());
    const auto blocks = q8_0_blocks(values);
    return take(blocks);
  });
}

Result<void> take_tensor(const NetworkTensor& tensor, ElementType type, const std::shared_ptr<const Checkpoint>& owner,
                         const Take& take) {
  if (type == ElementType::q8_0) return take_blocks(tensor, owner, take);
  const auto wanted = type == ElementType::f16 ? WeightType::float16 : WeightType::float32;
  return convert_tensor(*tensor.stored, tensor.name, owner, wanted, take);
}

}  // namespace

Result<void> check_ggml(const WhisperDims& dims) {
  return check_whisper_program("whisper.cpp", dims);
}

std::vector<std::byte> q8_0_blocks(std::span<const float> values) {
  std::vector<std::byte> blocks(values.size() / kBlock * size_of(ElementType::q8_0));
  auto* out = blocks.data();
  for (; values.size() >= kBlock; values = values.subspan(kBlock)) {
    float largest = 0;
    for (const float value : values.first(kBlock)) largest = std::max(largest, std::abs(value));
    const float step = largest / 127;
    const float steps = step > 0 ? 1 / step : 0;
    const c10::Half factor(step);
    std::memcpy(out, &factor.x, sizeof factor.x);
    out += sizeof factor.x;
    for (const float value : values.first(kBlock))
      *out++ = static_cast<std::byte>(static_cast<std::int8_t>(std::round(value * steps)));
  }
  return blocks;
}

Result<std::uint64_t> write_ggml_file(const std::shared_ptr<const Checkpoint>& checkpoint,
                                      const std::vector<NetworkTensor>& tensors, WeightType type,
                                      const Tokenizer& tokenizer, const MelFilterBank& filters, int fd,
                                      const std::string& thing) {
  TRY(expect_whole_blocks(tensors, type));
  std::uint64_t size = 0;
  const auto write = [&](std::span<const std::byte> some) {
    size += some.size();
    return write_all(fd, some, thing);
  };
  const auto& dims = checkpoint->shape.dims;
  const std::string head = head_of(dims, type, tokenizer, filters(dims.n_mels));
  Result<void> done = write(std::as_bytes(std::span(head)));
  for (const auto& tensor : tensors) {
    const ElementType stored_as = element_type(tensor, type);
    const std::string description = description_of(tensor, stored_as);
    if (done) done = write(std::as_bytes(std::span(description)));
    if (done) done = take_tensor(tensor, stored_as, checkpoint, write);
  }
  if (done && ::fsync(fd) != 0) done = fail_errno(thing, "could not be synced");
  TRY(done);
  return size;
}

}  // namespace tutti
