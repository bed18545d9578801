#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAGuard.h>
#include <torch/csrc/cuda/nccl.h>

#include <cstring>
#include <stdexcept>

#include "model/gpu/card_sum.h"

namespace tutti::gpu {
namespace {

namespace nccl = torch::cuda::nccl;

/// Over NCCL, which torch brings along.
class NcclSum final : public CardSum {
 public:
  explicit NcclSum(nccl::ncclComm_t cards) : cards_(cards) { done_.record(); }
  NcclSum(const NcclSum&) = delete;
  ~NcclSum() override { nccl::comm_destroy(cards_); }

  void sum(at::Tensor& tensor) override {
    std::vector<at::Tensor> sums{tensor};
    nccl::all_reduce({tensor}, sums, static_cast<std::int32_t>(nccl::ncclRedOp::Sum), {}, {cards_});
    done_.record();
  }

  bool is_pending() const override {
    try {
      return !done_.query();
    } catch (const c10::Error&) {
      return false;  // the device has failed, which the thread that trains gets to know
    }
  }

 private:
  nccl::ncclComm_t cards_;
  at::cuda::CUDAEvent done_{};  // recorded once before other threads see it: then it only changes on the device
};

}  // namespace

std::string card_sum_key_cuda() {
  nccl::ncclUniqueId id{};
  nccl::get_unique_id(id);
  return {id.internal, sizeof id.internal};
}

std::shared_ptr<CardSum> make_card_sum_cuda(int index, const std::string& key, int rank, int ranks) {
  nccl::ncclUniqueId id{};
  if (key.size() != sizeof id.internal) throw std::invalid_argument("the key of the cards has the wrong size");
  std::memcpy(id.internal, key.data(), sizeof id.internal);
  const c10::cuda::CUDAGuard here(static_cast<c10::DeviceIndex>(index));
  return std::make_shared<NcclSum>(nccl::comm_init_rank(ranks, id, rank));
}

}  // namespace tutti::gpu
