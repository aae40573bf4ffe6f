#include "bench/support/mujoco_peer.hpp"

#include <vector>

#ifdef TANGERE_HAS_MUJOCO
#include <mujoco/mujoco.h>
#endif

namespace tangere::bench {

#ifdef TANGERE_HAS_MUJOCO

struct MujocoPeer::Data {
  mjModel* model = nullptr;
  mjData* data = nullptr;
  std::vector<mjtNum> result;
};

MujocoPeer::MujocoPeer(const std::filesystem::path& file) : data_(std::make_unique<Data>()) {
  char error[1000] = "";
  data_->model = mj_loadXML(file.string().c_str(), nullptr, error, sizeof error);
  if (data_->model == nullptr) return;
  data_->model->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_ACTUATION;
  data_->data = mj_makeData(data_->model);
  data_->result.resize(static_cast<std::size_t>(data_->model->nv));
}

MujocoPeer::~MujocoPeer() {
  if (data_->data != nullptr) mj_deleteData(data_->data);
  if (data_->model != nullptr) mj_deleteModel(data_->model);
}

bool MujocoPeer::present() const { return data_->data != nullptr; }

void MujocoPeer::set_state(const VectorX& qpos, const VectorX& qvel, const VectorX& qacc) {
  mju_copy(data_->data->qpos, qpos.data(), data_->model->nq);
  mju_copy(data_->data->qvel, qvel.data(), data_->model->nv);
  mju_copy(data_->data->qacc, qacc.data(), data_->model->nv);
}

void MujocoPeer::inverse_dynamics() {
  mj_kinematics(data_->model, data_->data);
  mj_comPos(data_->model, data_->data);
  mj_comVel(data_->model, data_->data);
  mj_rne(data_->model, data_->data, 1, data_->result.data());
}

void MujocoPeer::mass_matrix() {
  mj_kinematics(data_->model, data_->data);
  mj_comPos(data_->model, data_->data);
  mj_crb(data_->model, data_->data);
  mj_factorM(data_->model, data_->data);
}

void MujocoPeer::forward_dynamics() { mj_forward(data_->model, data_->data); }

#else

struct MujocoPeer::Data {};
MujocoPeer::MujocoPeer(const std::filesystem::path&) {}
MujocoPeer::~MujocoPeer() = default;
bool MujocoPeer::present() const { return false; }
void MujocoPeer::set_state(const VectorX&, const VectorX&, const VectorX&) {}
void MujocoPeer::inverse_dynamics() {}
void MujocoPeer::mass_matrix() {}
void MujocoPeer::forward_dynamics() {}

#endif

}  // namespace tangere::bench
