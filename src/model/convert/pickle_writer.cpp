#include "model/convert/pickle_writer.h"

#include <stdexcept>
#include <utility>
#include <vector>

namespace tutti {
namespace {

// Opcodes, by their names in pickletools.
constexpr std::string_view kProto2("\x80\x02", 2);
constexpr char kMark = '(', kEmptyDict = '}', kSetItems = 'u', kBinUnicode = 'X', kBinInt = 'J', kTuple = 't',
               kEmptyTuple = ')', kGlobal = 'c', kReduce = 'R', kBinPersId = 'Q', kNewFalse = '\x89', kStop = '.';

void append_little_endian(std::string& out, std::uint32_t number) {
  for (int byte = 0; byte < 4; ++byte) out += static_cast<char>(number >> (8 * byte) & 0xffU);
}

}  // namespace

PickleWriter::PickleWriter() : out_(kProto2) {}

void PickleWriter::begin_dict() {
  out_ += kEmptyDict;
  out_ += kMark;
}

void PickleWriter::end_dict() {
  out_ += kSetItems;
}

void PickleWriter::text(std::string_view text) {
  out_ += kBinUnicode;
  append_little_endian(out_, static_cast<std::uint32_t>(text.size()));
  out_ += text;
}

void PickleWriter::number(std::int64_t number) {
  if (!std::in_range<std::int32_t>(number)) throw std::invalid_argument("pickle: " + std::to_string(number));
  out_ += kBinInt;
  append_little_endian(out_, static_cast<std::uint32_t>(number));
}

void PickleWriter::global(std::string_view module, std::string_view name) {
  out_ += kGlobal;
  (out_ += module) += '\n';
  (out_ += name) += '\n';
}

void PickleWriter::tuple(std::span<const std::int64_t> numbers) {
  out_ += kMark;
  for (const auto number : numbers) this->number(number);
  out_ += kTuple;
}

/// _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, backward_hooks); the storage is a persistent id
/// ("storage", type, key, location, elements).
void PickleWriter::tensor(std::string_view storage, std::string_view key, std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size(), 1);
  std::int64_t count = 1;
  for (std::size_t i = shape.size(); i-- > 0; count *= shape[i]) strides[i] = count;
  global("torch._utils", "_rebuild_tensor_v2");
  out_ += kMark;
  out_ += kMark;
  text("storage");
  global("torch", storage);
  text(key);
  text("cpu");
  number(count);
  out_ += kTuple;
  out_ += kBinPersId;
  number(0);
  tuple(shape);
  tuple(strides);
  out_ += kNewFalse;
  global("collections", "OrderedDict");
  out_ += kEmptyTuple;
  out_ += kReduce;
  out_ += kTuple;
  out_ += kReduce;
}

std::string PickleWriter::finish() && {
  out_ += kStop;
  return std::move(out_);
}

}  // namespace tutti
