#include "bench/support/mujoco_transition.hpp"

#include <vector>

#ifdef TANGERE_HAS_MUJOCO
#include <mujoco/mujoco.h>
#endif

namespace tangere::bench {

#ifdef TANGERE_HAS_MUJOCO

struct MujocoTransition::Data {
  mjModel* model = nullptr;
  mjData* data = nullptr;
  mjData* saved = nullptr;
  std::vector<mjtNum> A;
  std::vector<mjtNum> B;
};

MujocoTransition::MujocoTransition(const std::filesystem::path& file) : data_(std::make_unique<Data>()) {
  char error[1000] = "";
  Data& d = *data_;
  d.model = mj_loadXML(file.string().c_str(), nullptr, error, sizeof error);
  if (d.model == nullptr) return;
  d.model->opt.disableflags |= mjDSBL_LIMIT;
  d.data = mj_makeData(d.model);
  d.saved = mj_makeData(d.model);
  if (d.model->nkey > 0) mj_resetDataKeyframe(d.model, d.data, d.model->nkey - 1);
  mj_step(d.model, d.data);
  mj_forward(d.model, d.data);
  mj_copyData(d.saved, d.model, d.data);
  const auto nx = static_cast<std::size_t>(2 * d.model->nv + d.model->na);
  d.A.resize(nx * nx);
  d.B.resize(nx * static_cast<std::size_t>(d.model->nu));
}

MujocoTransition::~MujocoTransition() {
  for (mjData* data : {data_->data, data_->saved})
    if (data != nullptr) mj_deleteData(data);
  if (data_->model != nullptr) mj_deleteModel(data_->model);
}

bool MujocoTransition::present() const { return data_->data != nullptr; }
int MujocoTransition::num_contacts() const { return data_->saved->ncon; }
int MujocoTransition::num_controls() const { return data_->model->nu; }
void MujocoTransition::step() { mj_step(data_->model, data_->data); }
void MujocoTransition::jacobians() {
  mjd_transitionFD(data_->model, data_->data, 1e-6, 1, data_->A.data(), data_->B.data(), nullptr, nullptr);
}
void MujocoTransition::reset() { mj_copyData(data_->data, data_->model, data_->saved); }

#else

struct MujocoTransition::Data {};
MujocoTransition::MujocoTransition(const std::filesystem::path&) {}
MujocoTransition::~MujocoTransition() = default;
bool MujocoTransition::present() const { return false; }
int MujocoTransition::num_contacts() const { return 0; }
int MujocoTransition::num_controls() const { return 0; }
void MujocoTransition::step() {}
void MujocoTransition::jacobians() {}
void MujocoTransition::reset() {}

#endif

}  // namespace tangere::bench
