#include "train/recompute.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/autocast_mode.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>

namespace tutti {
namespace {

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
  Kept(NetworkBlockOfTwo run, at::Tensor state, Rounding how)
      : block(std::move(run)), draws(std::move(state)), rounding(how) {}
  NetworkBlockOfTwo block;
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

at::Tensor apply(const at::Tensor& x, const at::Tensor& y, NetworkBlockOfTwo block) {
  if (!c10::GradMode::is_enabled()) return block(x, y);
  auto draws = generator_of(x.device()).get_state();
  return Recompute::apply(
      requiring_gradient(x), y,
      c10::make_intrusive<Kept>(std::move(block), std::move(draws), Rounding::now(x.device().type())));
}

}  // namespace

at::Tensor recomputed(const at::Tensor& x, const NetworkBlock& block) {
  return apply(x, at::empty({0}, x.options()),
               [block](const at::Tensor& input, const at::Tensor&) { return block(input); });
}

at::Tensor recomputed(const at::Tensor& x, const at::Tensor& y, const NetworkBlockOfTwo& block) {
  return apply(x, y, block);
}

}  // namespace tutti
