#include "model/formats/safetensors_writer.h"

#include <unistd.h>

#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/try.h"

namespace tutti {
namespace {

constexpr std::size_t kAlignment = 64;  // alignment of the first tensor, so that a mapped file can be used as it is

std::size_t planned_bytes(const TensorPlan& tensor) {
  const auto bytes = byte_count(tensor.shape, tensor.type);
  if (!bytes || block_of(tensor.type) > 1)
    throw std::invalid_argument("safetensors: " + tensor.name + " cannot be " + std::string(name_of(tensor.type)) +
                                " " + shape_text(tensor.shape));
  return *bytes;
}

}  // namespace

Result<SafetensorsWriter> SafetensorsWriter::start(int fd, std::vector<TensorPlan> tensors, std::string thing) {
  nlohmann::ordered_json header{{"__metadata__", {{"format", "pt"}}}};
  std::uint64_t at = 0;
  for (const auto& tensor : tensors) {
    const auto end = at + planned_bytes(tensor);
    header[tensor.name] = {{"dtype", name_of(tensor.type)}, {"shape", tensor.shape}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  std::uint64_t length = 0;
  text.append((kAlignment - (sizeof length + text.size()) % kAlignment) % kAlignment, ' ');  // the format allows spaces
  length = text.size();
  SafetensorsWriter writer(fd, std::move(tensors), std::move(thing));
  writer.size_ = sizeof length + length + at;
  auto written = write_all(fd, std::as_bytes(std::span(&length, 1)), writer.thing_);
  if (written) written = write_all(fd, std::as_bytes(std::span(text)), writer.thing_);
  TRY(written);
  return writer;
}

Result<void> SafetensorsWriter::add(std::span<const std::byte> bytes) {
  if (next_ == tensors_.size() || bytes.size() != planned_bytes(tensors_[next_]))
    throw std::invalid_argument("safetensors: " + std::to_string(bytes.size()) + " bytes are not those planned");
  ++next_;
  return write_all(fd_, bytes, thing_);
}

Result<void> SafetensorsWriter::finish() {
  if (next_ != tensors_.size()) throw std::logic_error("safetensors: " + tensors_[next_].name + " was never added");
  if (::fsync(fd_) != 0) return fail_errno(thing_, "could not be synced");
  return {};
}

}  // namespace tutti
