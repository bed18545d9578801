#include "train/whisper/network/forward.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace tutti {
namespace {

using Block = std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>;
using Tensors = torch::autograd::variable_list;

/// The generator that dropout on `device` draws from.
at::Generator generator_of(at::Device device) {
  return at::globalContext().defaultGenerator(device);
}

/// Whether products are rounded, to what, and whether rounded weights are kept for the next product: on this thread. A
/// GPU's gradients are computed on a thread of autograd's own, which knows nothing of what the forward pass had set.
struct Rounding {
  at::DeviceType device;
  bool enabled;
  at::ScalarType type;
  bool keeps;

  static Rounding now(at::DeviceType device) {
    return {device, at::autocast::is_autocast_enabled(device), at::autocast::get_autocast_dtype(device),
            at::autocast::is_autocast_cache_enabled()};
  }
  void apply() const {
    at::autocast::set_autocast_enabled(device, enabled);
    at::autocast::set_autocast_dtype(device, type);
    at::autocast::set_autocast_cache_enabled(keeps);
  }
};

/// The rounding of the forward pass, for as long as this object exists.
class RoundingAgain {
 public:
  explicit RoundingAgain(const Rounding& wanted) : before_(Rounding::now(wanted.device)) { wanted.apply(); }
  RoundingAgain(const RoundingAgain&) = delete;
  ~RoundingAgain() { before_.apply(); }

 private:
  Rounding before_;
};

/// What the gradient needs of the forward pass beside the arguments.
struct Kept : torch::CustomClassHolder {
  Kept(Block run, at::Tensor state, Rounding how) : block(std::move(run)), draws(std::move(state)), rounding(how) {}
  Block block;
  at::Tensor draws;  // state of the generator before the block
  Rounding rounding;
};

/// Computes the block again and sends `gradient` through it: into x and y, and into whatever else it holds.
void backward_through(const Kept& kept, const at::Tensor& x, const at::Tensor& y, const at::Tensor& gradient) {
  auto generator = generator_of(x.device());
  const auto draws = generator.get_state();
  const c10::AutoGradMode gradients_on(true);
  generator.set_state(kept.draws);
  at::Tensor out;
  {
    const RoundingAgain as_before(kept.rounding);
    out = kept.block(x, y);
  }
  generator.set_state(draws);
  out.backward(gradient);
}

struct Recompute : torch::autograd::Function<Recompute> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, const at::Tensor& y,
                            const c10::intrusive_ptr<Kept>& kept) {
    const c10::AutoGradMode no_gradients(false);
    context->save_for_backward({x, y});
    context->saved_data["kept"] = at::IValue::make_capsule(kept);
    return kept->block(x, y);
  }

  static Tensors backward(torch::autograd::AutogradContext* context, const Tensors& gradients) {
    const auto saved = context->get_saved_variables();
    const auto kept = c10::static_intrusive_pointer_cast<Kept>(context->saved_data["kept"].toCapsule());
    const auto x = saved[0].detach().requires_grad_();
    const auto y = saved[1].detach().requires_grad_();
    backward_through(*kept, x, y, gradients[0]);
    return {x.grad(), y.grad(), at::Tensor()};
  }
};

/// Autograd calls a function back only where an argument requires a gradient.
at::Tensor requiring_gradient(const at::Tensor& x) {
  return x.requires_grad() ? x : x.detach().requires_grad_();
}

at::Tensor apply(const at::Tensor& x, const at::Tensor& y, Block block) {
  if (!c10::GradMode::is_enabled()) return block(x, y);
  auto draws = generator_of(x.device()).get_state();
  return Recompute::apply(
      requiring_gradient(x), y,
      c10::make_intrusive<Kept>(std::move(block), std::move(draws), Rounding::now(x.device().type())));
}

/// block(x), of which autograd keeps x alone: for the gradient the block is computed again, with the same dropout. What
/// the block holds beside its arguments gets its gradients as usual. Saves the memory of everything in between and
/// costs one forward pass more. Where no gradient is required, just block(x).
at::Tensor recomputed(const at::Tensor& x, const std::function<at::Tensor(const at::Tensor&)>& block) {
  return apply(x, at::empty({0}, x.options()),
               [block](const at::Tensor& input, const at::Tensor&) { return block(input); });
}

/// The same with two arguments that both get gradients.
at::Tensor recomputed(const at::Tensor& x, const at::Tensor& y,
                      const std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>& block) {
  return apply(x, y, block);
}

at::Tensor norm(const at::Tensor& x, const ops::Norm& layer) {
  return at::layer_norm(x, layer.weight.sizes(), layer.weight, layer.bias);
}

at::Tensor apply(const at::Tensor& x, const ops::Linear& layer) {
  return at::linear(x, layer.weight, layer.bias);
}

at::Tensor dropped(const at::Tensor& x, double share) {
  return share > 0 ? at::dropout(x, share, /*train=*/true) : x;
}

/// [batch, length, n] -> [batch, heads, length, n / heads].
at::Tensor by_head(const at::Tensor& x, std::int64_t heads) {
  return x.unflatten(2, {heads, x.size(2) / heads}).transpose(1, 2);
}

/// Every position of `query` over those of `from`; with `causal`, over none behind itself.
at::Tensor attend(const at::Tensor& query, const at::Tensor& from, const AttentionWeights& layer, std::int64_t heads,
                  bool causal) {
  const auto seen = at::scaled_dot_product_attention(
      by_head(apply(query, layer.query), heads), by_head(apply(from, layer.key), heads),
      by_head(apply(from, layer.value), heads), std::nullopt, /*dropout_p=*/0.0, causal);
  return apply(seen.transpose(1, 2).flatten(2), layer.out);
}

at::Tensor with_mlp(const at::Tensor& x, const BlockWeights& block, double dropout) {
  return x + dropped(apply(at::gelu(apply(norm(x, block.mlp_norm), block.mlp_in)), block.mlp_out), dropout);
}

at::Tensor encoder_block(const at::Tensor& x, const BlockWeights& block, std::int64_t heads, double dropout) {
  const auto y = norm(x, block.attn_norm);
  return with_mlp(x + dropped(attend(y, y, block.attn, heads, false), dropout), block, dropout);
}

/// Where head 0 looks: [batch, length, positions], logarithms.
at::Tensor first_head(const at::Tensor& query, const at::Tensor& from, const AttentionWeights& layer,
                      std::int64_t heads) {
  const auto width = query.size(2) / heads;
  const auto own = [&](const at::Tensor& x, const ops::Linear& all) {
    return at::linear(x, all.weight.narrow(0, 0, width), all.bias.defined() ? all.bias.narrow(0, 0, width) : all.bias);
  };
  const auto scores = own(query, layer.query).matmul(own(from, layer.key).transpose(1, 2));
  return (scores.to(at::kFloat) / std::sqrt(static_cast<double>(width))).log_softmax(2);
}

at::Tensor decoder_block(const at::Tensor& x, const at::Tensor& context, const BlockWeights& block, std::int64_t heads,
                         double dropout, std::vector<at::Tensor>* watched) {
  const auto y = norm(x, block.attn_norm);
  const auto self_attended = x + dropped(attend(y, y, block.attn, heads, true), dropout);
  const auto query = norm(self_attended, block.cross_norm);
  if (watched) watched->push_back(first_head(query, context, block.cross, heads));
  const auto cross_attended = self_attended + dropped(attend(query, context, block.cross, heads, false), dropout);
  return with_mlp(cross_attended, block, dropout);
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::invalid_argument(what);
}

}  // namespace

at::Tensor encode(const WhisperWeights& weights, const WhisperDims& dims, const at::Tensor& mel,
                  const ForwardOptions& options) {
  require(mel.dim() == 3 && mel.size(1) == dims.n_mels && mel.size(2) % 2 == 0 && mel.size(2) <= 2 * dims.n_audio_ctx,
          "encode: a mel batch of " + std::to_string(mel.size(1)) + " x " + std::to_string(mel.size(2)) +
              " does not fit the network");
  auto x = at::gelu(at::conv1d(mel, weights.conv1.weight, weights.conv1.bias, /*stride=*/1, /*padding=*/1));
  x = at::gelu(at::conv1d(x, weights.conv2.weight, weights.conv2.bias, /*stride=*/2, /*padding=*/1));
  // Rows side by side from here on: a sum keeps its first operand's strides, and every layer would copy.
  x = dropped(x.transpose(1, 2).contiguous() + weights.audio_positions.narrow(0, 0, mel.size(2) / 2), options.dropout);
  for (const auto& block : weights.encoder) {
    // Holds the block's tensors: it may run again when the caller's weights are gone.
    const auto run = [block, heads = dims.n_audio_head, share = options.dropout](const at::Tensor& input) {
      return encoder_block(input, block, heads, share);
    };
    x = options.recompute ? recomputed(x, run) : run(x);
  }
  return norm(x, weights.encoder_norm);
}

at::Tensor decode(const WhisperWeights& weights, const WhisperDims& dims, const at::Tensor& tokens,
                  const at::Tensor& context, const ForwardOptions& options, std::vector<at::Tensor>* watched) {
  require(tokens.size(1) <= dims.n_text_ctx, "decode: " + std::to_string(tokens.size(1)) + " tokens, the network has " +
                                                 std::to_string(dims.n_text_ctx) + " positions");
  auto x = at::embedding(weights.tokens, tokens) + weights.text_positions.narrow(0, 0, tokens.size(1));
  x = dropped(x, options.dropout);
  for (const auto& block : weights.decoder) {
    const auto run = [block, heads = dims.n_text_head, share = options.dropout, watched](const at::Tensor& input,
                                                                                         const at::Tensor& window) {
      return decoder_block(input, window, block, heads, share, watched);
    };
    x = options.recompute && !watched ? recomputed(x, context, run) : run(x, context);
  }
  return at::linear(norm(x, weights.decoder_norm), weights.tokens);
}

}  // namespace tutti
