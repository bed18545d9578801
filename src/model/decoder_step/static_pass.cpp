#include "model/decoder_step/static_pass.h"

#include <ATen/ATen.h>

#include "model/decoder_step/byte_layout.h"

namespace tutti {
namespace {

class Pass {
 public:
  explicit Pass(const StepContext& context)
      : context_(context),
        buffers_(*context.buffers),
        rows_(context.inputs.rows),
        n_(context.dims->n_text_state),
        type_(number_of(buffers_.x.scalar_type())) {}

  void embed(const WhisperWeights& net) const {
    context_.now.kernels->embed({.activation = type_,
                                 .table = net.tokens.const_data_ptr(),
                                 .positional = net.text_positions.const_data_ptr(),
                                 .tokens = input<std::int32_t>(context_.inputs.tokens()),
                                 .positions = input<std::int32_t>(context_.inputs.positions()),
                                 .out = buffers_.x.mutable_data_ptr(),
                                 .rows = rows_,
                                 .n = n_},
                                context_.now.stream);
  }

  /// A decoder layer. Before and after, what is due is still to be added to x.
  void block(const BlockWeights& block, std::size_t layer) {
    norm(block.attn_norm, block.attn.joined);
    product_into(buffers_.qkv, block.attn.joined, n_);
    append(layer);
    attend_slots(layer);
    due_ = product_of_attention(block.attn.out);

    norm(block.cross_norm, block.cross.query);
    product_into(buffers_.cross_query, block.cross.query, n_);
    attend_windows(layer);
    due_ = product_of_attention(block.cross.out);

    norm(block.mlp_norm, block.mlp_in);
    const auto hidden = product(block.mlp_in, n_);
    finish(hidden, true, input_of(block.mlp_out), 4 * n_);
    due_ = product(block.mlp_out, 4 * n_);
  }

  void logits(const WhisperWeights& net) {
    norm(net.decoder_norm, net.output);
    const auto vocab = context_.dims->n_vocab;
    auto raw = view(buffers_.raw_logits, rows_, vocab);
    at::mm_out(raw, view(buffers_.input, rows_, n_), net.output.weight.t());
    buffers_.logits.narrow(0, 0, rows_).copy_(raw);
  }

 private:
  static at::Tensor view(const at::Tensor& flat, std::int64_t rows, std::int64_t columns) {
    return flat.narrow(0, 0, rows * columns).view({rows, columns});
  }

  template <class T>
  const T* input(std::int64_t at) const {
    return reinterpret_cast<const T*>(buffers_.inputs.const_data_ptr<std::uint8_t>() + at);
  }

  /// Where a product with that layer takes its rows from.
  RowsOut input_of(const ops::Linear& layer) const {
    if (!layer.scale.defined()) return {buffers_.input.mutable_data_ptr()};
    auto* high = buffers_.whole_input.mutable_data_ptr<std::int8_t>();
    return {high, high + rows_ * layer.weight.size(1), buffers_.row_scales.mutable_data_ptr<float>()};
  }

  /// x += what is due; the input of `next` = norm(x).
  void norm(const ops::Norm& norm, const ops::Linear& next) {
    context_.now.kernels->norm({.activation = type_,
                                .x = buffers_.x.mutable_data_ptr(),
                                .add = due_,
                                .weight = norm.weight.const_data_ptr(),
                                .bias = norm.bias.const_data_ptr(),
                                .out = input_of(next),
                                .rows = rows_,
                                .n = n_},
                               context_.now.stream);
    due_ = {};
  }

  /// The product with the layer's input, [rows, k]. Holds until the next product.
  Sums product(const ops::Linear& layer, std::int64_t k) const {
    const auto out = layer.weight.size(0);
    const void* bias = layer.bias.defined() ? layer.bias.const_data_ptr() : nullptr;
    if (!layer.scale.defined()) {
      auto sums = view(buffers_.sums, rows_, out);
      at::mm_out(sums, view(buffers_.input, rows_, k), layer.weight.t());
      return {.numbers = sums.const_data_ptr(), .bias = bias};
    }
    auto sums = view(buffers_.whole_sums, whole_rows(rows_), out);
    at::_int_mm_out(sums, view(buffers_.whole_input, whole_rows(rows_), k), layer.weight.t());
    const auto* high = sums.const_data_ptr<std::int32_t>();
    return {.numbers = high,
            .low = high + rows_ * out,
            .bias = bias,
            .row_scales = buffers_.row_scales.const_data_ptr<float>(),
            .column_scales = layer.scale.const_data_ptr<float>()};
  }

  void finish(const Sums& sums, bool gelu, const RowsOut& out, std::int32_t n) const {
    context_.now.kernels->finish({.activation = type_, .sums = sums, .gelu = gelu, .out = out, .rows = rows_, .n = n},
                                 context_.now.stream);
  }

  /// A product with its bias, [rows, out] of the activations' type.
  void product_into(const at::Tensor& flat, const ops::Linear& layer, std::int64_t k) const {
    auto to = view(flat, rows_, layer.weight.size(0));
    if (layer.scale.defined()) {
      return finish(product(layer, k), false, {to.mutable_data_ptr()}, static_cast<std::int32_t>(to.size(1)));
    }
    at::addmm_out(to, layer.bias, view(buffers_.input, rows_, k), layer.weight.t());
  }

  /// With what attention left in the plain input.
  Sums product_of_attention(const ops::Linear& layer) const {
    if (layer.scale.defined()) {
      finish({.numbers = buffers_.input.const_data_ptr()}, false, input_of(layer), n_);
    }
    return product(layer, n_);
  }

  void append(std::size_t layer) const {
    const auto& keys = context_.cache->keys[layer];
    context_.now.kernels->append({.activation = type_,
                                  .qkv = buffers_.qkv.const_data_ptr(),
                                  .keys = keys.mutable_data_ptr(),
                                  .values = context_.cache->values[layer].mutable_data_ptr(),
                                  .slots = input<std::int32_t>(context_.inputs.slots()),
                                  .positions = input<std::int32_t>(context_.inputs.positions()),
                                  .rows = rows_,
                                  .heads = context_.dims->n_text_head,
                                  .capacity = static_cast<std::int32_t>(context_.cache->positions())},
                                 context_.now.stream);
  }

  void attend_slots(std::size_t layer) const {
    context_.now.kernels->attend({.activation = type_,
                                  .cache = type_,
                                  .q = buffers_.qkv.const_data_ptr(),
                                  .q_stride = 3 * std::int64_t{n_},
                                  .out = buffers_.input.mutable_data_ptr(),
                                  .table = input<KvRow>(context_.inputs.self(static_cast<std::int64_t>(layer))),
                                  .rows = rows_,
                                  .heads = context_.dims->n_text_head,
                                  .positions = static_cast<std::int32_t>(context_.cache->positions())},
                                 context_.now.stream);
  }

  void attend_windows(std::size_t layer) const {
    context_.now.kernels->attend({.activation = type_,
                                  .cache = context_.byte_windows ? Number::int8 : type_,
                                  .q = buffers_.cross_query.const_data_ptr(),
                                  .q_stride = n_,
                                  .out = buffers_.input.mutable_data_ptr(),
                                  .table = input<KvRow>(context_.inputs.cross(static_cast<std::int64_t>(layer))),
                                  .shared = context_.shared ? input<SharedRows>(context_.inputs.shared()) : nullptr,
                                  .rows = rows_,
                                  .heads = context_.dims->n_text_head,
                                  .positions = context_.dims->n_audio_ctx,
                                  .splits = context_.splits,
                                  .scratch = buffers_.partials.mutable_data_ptr<float>()},
                                 context_.now.stream);
  }

  const StepContext& context_;
  const StepBuffers& buffers_;
  std::int32_t rows_;
  std::int32_t n_;
  Number type_;
  Sums due_{};  // what is still to be added to x
};

}  // namespace

void pass_through(const WhisperWeights& net, const StepContext& context) {
  Pass pass(context);
  pass.embed(net);
  for (std::size_t layer = 0; layer < net.decoder.size(); ++layer) pass.block(net.decoder[layer], layer);
  pass.logits(net);
}

}  // namespace tutti
