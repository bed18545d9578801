#include "audio/vad/silero_weights.h"

#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace tutti {
namespace {

/// Takes tensors off the front of the embedded file.
class Tensors {
 public:
  explicit Tensors(std::string_view bytes) : bytes_(bytes) {}

  std::vector<float> next(std::size_t count) {
    std::vector<float> values(count);
    if (bytes_.size() < count * sizeof(float)) throw std::logic_error("data/silero_vad.f32 is too short");
    std::memcpy(values.data(), bytes_.data(), count * sizeof(float));
    bytes_.remove_prefix(count * sizeof(float));
    return values;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

/// From torch's [out, in, 3].
template <class Convolution>
void take(Tensors& tensors, Convolution& convolution) {
  constexpr std::size_t in = Convolution::kInputs, out = Convolution::kOutputs, block = Convolution::kBlock;
  const auto weights = tensors.next(out * in * 3);
  for (std::size_t o = 0; o < out; ++o)
    for (std::size_t i = 0; i < in; ++i)
      for (std::size_t tap = 0; tap < 3; ++tap)
        convolution.weights[((o / block * in + i) * block + o % block) * 3 + tap] = weights[(o * in + i) * 3 + tap];
  const auto bias = tensors.next(out);
  std::copy(bias.begin(), bias.end(), convolution.bias.begin());
}

constexpr std::size_t kUnits = kSileroUnits, kGates = kSileroGates, kGroup = kSileroGroup;

/// The index of a unit's gate among those fed by one input.
std::size_t gate_index(std::size_t gate, std::size_t unit, std::size_t inputs, std::size_t input) {
  return ((unit / kGroup * inputs + input) * kGates + gate) * kGroup + unit % kGroup;
}

/// From torch's [gates * units, inputs].
void take(Tensors& tensors, SileroGateWeights& into) {
  const auto weights = tensors.next(into.size());
  for (std::size_t gate = 0; gate < kGates; ++gate)
    for (std::size_t unit = 0; unit < kUnits; ++unit)
      for (std::size_t input = 0; input < kUnits; ++input)
        into[gate_index(gate, unit, kUnits, input)] = weights[(gate * kUnits + unit) * kUnits + input];
}

std::unique_ptr<const SileroWeights> unpacked() {
  auto weights = std::make_unique<SileroWeights>();
  Tensors tensors(kSileroWeights);
  take(tensors, weights->conv1);
  take(tensors, weights->conv2);
  take(tensors, weights->conv3);
  take(tensors, weights->conv4);
  take(tensors, weights->from_input);
  take(tensors, weights->from_state);
  const auto first = tensors.next(kGates * kUnits), second = tensors.next(kGates * kUnits);
  for (std::size_t gate = 0; gate < kGates; ++gate)
    for (std::size_t unit = 0; unit < kUnits; ++unit)
      weights->gate_bias[gate_index(gate, unit, 1, 0)] = first[gate * kUnits + unit] + second[gate * kUnits + unit];
  const auto output = tensors.next(kUnits);
  std::copy(output.begin(), output.end(), weights->output.begin());
  weights->output_bias = tensors.next(1)[0];
  if (!tensors.empty()) throw std::logic_error("data/silero_vad.f32 is too long");
  return weights;
}

}  // namespace

const SileroWeights& silero_weights() {
  static const auto weights = unpacked();
  return *weights;
}

}  // namespace tutti
