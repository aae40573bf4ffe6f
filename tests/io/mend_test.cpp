/// What other engines accept is mended, and said; strict refuses it.

#include "tangere/io/robot/internal/mend.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include <Eigen/Eigenvalues>

#include "tangere/io/robot/mjcf_reader.hpp"
#include "tangere/io/robot/urdf_reader.hpp"
#include "tangere/math/error.hpp"
#include "tangere/math/random.hpp"
#include "tangere/math/so3.hpp"
#include "tangere/multibody/kinematics.hpp"
#include "tangere/multibody/mass_matrix.hpp"
#include "tests/support/matrix_near.hpp"
#include "tests/support/temporary_folder.hpp"

namespace tangere {
namespace {

std::string robot(const std::string& inside) { return "<robot name='r'>" + inside + "</robot>"; }

std::string link(const std::string& name, const std::string& mass, const std::string& diagonal) {
  std::string text = "<link name='" + name + "'><inertial><mass value='" + mass + "'/><inertia ixy='0' ixz='0' iyz='0'";
  const char* axes[] = {" ixx='", " iyy='", " izz='"};
  std::size_t at = 0;
  for (const char* axis : axes) {
    const std::size_t end = std::min(diagonal.find(' ', at), diagonal.size());
    text += axis + diagonal.substr(at, end - at) + "'";
    at = end + 1;
  }
  return text + "/></inertial></link>";
}

std::string hinge(const std::string& parent, const std::string& child, const std::string& more = "") {
  return "<joint name='" + parent + child + "' type='continuous'><axis xyz='0 1 0'/><parent link='" + parent +
         "'/><child link='" + child + "'/>" + more + "</joint>";
}

bool has_notice(const Robot& robot, const std::string& text, NoticeRank rank) {
  for (const Notice& notice : robot.notices)
    if (notice.text.find(text) != std::string::npos && notice.rank == rank) return true;
  return false;
}

/// With one notice of this rank, and refused by strict.
void expect_mended(const std::string& text, const std::string& words, NoticeRank rank) {
  const bool urdf = text.starts_with("<robot");
  const auto load = [&](const LoadOptions& options) {
    return urdf ? urdf_from_text(text, "r.urdf", options) : mjcf_from_text(text, "r.xml", options);
  };
  EXPECT_TRUE(has_notice(load({}), words, rank)) << text;
  EXPECT_THROW((void)load({.strict = true}), InputError) << text;
}

const Matrix3& inertia_of(const Robot& robot, int body) { return robot.model.body(body).spec.inertia.inertia; }

// inertias
// ---------------------------------------------------------------------------------------------------------------------

TEST(Mend, InertiasBecomeThoseOfTheNearestBody) {
  // second moments (1.5, 1.5, -0.5)
  const std::string triangle = robot(link("a", "1", "1 1 3"));
  expect_mended(triangle, "no body has the principal moments", NoticeRank::motion);
  EXPECT_NEAR_ABSOLUTE(inertia_of(urdf_from_text(triangle), 0), Matrix3(Vector3(1.5, 1.5, 3).asDiagonal()), 1e-14);
  expect_mended(robot(link("a", "1", "-1 1 1")), "no body has the principal moments", NoticeRank::motion);
  expect_mended(robot(link("a", "-1", "1 1 1")), "a mass of -1 is taken as none", NoticeRank::motion);
  const std::string massless = robot(link("a", "0", "1 1 1"));
  expect_mended(massless, "an inertia without mass", NoticeRank::motion);
  EXPECT_NEAR_ABSOLUTE(inertia_of(urdf_from_text(massless), 0), Matrix3(Matrix3::Identity()), 0.0);
  expect_mended(
      "<mujoco><worldbody><body><joint/><inertial pos='0 0 0' mass='1' diaginertia='1 1 3'/></body></worldbody>"
      "</mujoco>",
      "no body has the principal moments", NoticeRank::motion);
}

TEST(Mend, AnySymmetricMatrixBecomesAnInertia) {
  Random random(1);
  int mended = 0;
  for (int i = 0; i < 1000; ++i) {
    Matrix3 A;
    for (double& a : A.reshaped()) a = random.normal();
    MassProperties body{1.0, Vector3::Zero(), Matrix3(A + A.transpose())};
    if (!internal::mend_inertia(body).empty()) ++mended;
    ModelBuilder builder("m");
    EXPECT_NO_THROW(builder.add_body({.name = "b", .inertia = body}, {.type = JointType::free}));
    const MassProperties once = body;
    EXPECT_TRUE(internal::mend_inertia(body).empty());
    EXPECT_EQ(body.inertia, once.inertia);
    // those of a body stay as they are
    MassProperties good{1.0, Vector3::Zero(), Matrix3(A * A.transpose())};
    good.inertia = Matrix3(good.inertia.trace() * Matrix3::Identity() - good.inertia);
    const Matrix3 before = good.inertia;
    EXPECT_TRUE(internal::mend_inertia(good).empty());
    EXPECT_NEAR_ABSOLUTE(good.inertia, before, 1e-14);
  }
  EXPECT_GT(mended, 900);
}

/// The tip of a chain has no inertia: what the joints before it meet is no number until it has some.
TEST(Mend, JointsThatMoveNothing) {
  const std::string chain =
      robot(link("a", "1", "1 1 1") + link("b", "1", "1 1 1") + "<link name='c'/><link name='d'/>" + hinge("a", "b") +
            hinge("b", "c") + hinge("c", "d"));
  expect_mended(chain, "moves nothing that has inertia of its own: body 'd' gets", NoticeRank::motion);
  const Robot r = urdf_from_text(chain);
  const MatrixX M = [&] {
    Data data(r.model);
    return MatrixX(mass_matrix(r.model, data, VectorX::Constant(3, 0.3)));
  }();
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(Eigen::MatrixXd(M)).eigenvalues().minCoeff(), 1e-7);
  expect_mended("<mujoco><worldbody><body name='b'><joint name='j'/></body></worldbody></mujoco>",
                "moves nothing that has inertia", NoticeRank::motion);
}

// URDF
// ---------------------------------------------------------------------------------------------------------------------

TEST(Mend, UrdfThatOthersRead) {
  const std::string two = link("a", "1", "1 1 1") + link("b", "1", "1 1 1");
  expect_mended("<robot>" + two + hinge("a", "b") + "</robot>", "has no name", NoticeRank::unused);
  EXPECT_EQ(urdf_from_text("<robot>" + link("a", "1", "1 1 1") + "</robot>", "arm.urdf").model.name(), "arm");
  expect_mended("<robot name='r'/>", "has no links", NoticeRank::unused);
  expect_mended(robot(two + hinge("a", "b", "<mimic joint='none'/>")), "there is no joint 'none'", NoticeRank::motion);
  const std::string limits = robot(two +
                                   "<joint name='j' type='revolute'><parent link='a'/><child link='b'/><limit "
                                   "lower='1' upper='-1' effort='1' velocity='1'/></joint>");
  expect_mended(limits, "lower exceeds upper", NoticeRank::motion);
  EXPECT_EQ(urdf_from_text(limits).model.dofs()[0].upper, DofSpec::kInfinity);
  const std::string dot = "<visual><geometry><sphere radius='0'/></geometry></visual></link>";
  expect_mended(robot("<link name='a'>" + dot), "this visual is left out", NoticeRank::look);
  const Robot ground = urdf_from_text(
      robot("<link name='a'><collision><geometry><plane normal='0 0 1'/></geometry></collision></link>"));
  EXPECT_TRUE(ground.model.body(0).spec.shapes[0].shape.is_half_space());
}

TEST(Mend, PackagesWithThreeSlashes) {
  const test::TemporaryFolder folder;
  std::ofstream(folder.path() / "t.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
  const std::string name = folder.path().filename().string();
  const Robot r = urdf_from_text(robot("<link name='a'><collision><geometry><mesh filename='package:///" + name +
                                       "/t.obj'/></geometry></collision></link>"),
                                 folder.path() / "r.urdf");
  EXPECT_EQ(r.model.body(0).spec.shapes.size(), 1U);
}

// MJCF
// ---------------------------------------------------------------------------------------------------------------------

TEST(Mend, MjcfThatOthersRead) {
  const std::string ball = "<worldbody><body name='b'><freejoint/><geom size='1'/></body></worldbody>";
  const std::string key = "<mujoco>" + ball + "<keyframe><key qpos='0 0 0 0 0 0 0'/></keyframe></mujoco>";
  expect_mended(key, "is zero: taken is the identity", NoticeRank::motion);
  EXPECT_EQ(mjcf_from_text(key).keyframes[0].q, (VectorX(7) << 0, 0, 0, 0, 0, 0, 1).finished());
  expect_mended("<mujoco><worldbody><geom size='1' rgba=''/></worldbody></mujoco>", "rgba", NoticeRank::look);
  expect_mended("<mujoco/>", "has no <worldbody>", NoticeRank::unused);
  EXPECT_EQ(mjcf_from_text("<mujoco>" + ball + "</mujoco>").time_step, 0.002);
}

TEST(Mend, FilesBesideTheIncludedFile) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() / "parts");
  std::ofstream(folder.path() / "parts" / "t.obj")
      << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";
  std::ofstream(folder.path() / "parts" / "inner.xml")
      << "<mujoco><asset><mesh name='t' file='t.obj'/></asset></mujoco>";
  std::ofstream(folder.path() / "parts" / "part.xml") << "<mujoco><include file='inner.xml'/></mujoco>";
  const Robot r = mjcf_from_text(
      "<mujoco><include file='parts/part.xml'/><worldbody><geom type='mesh' mesh='t'/></worldbody></mujoco>",
      folder.path() / "r.xml");
  EXPECT_EQ(r.model.body(0).spec.shapes.size(), 1U);
}

TEST(Notices, TheMostImportantFirst) {
  const Robot r = mjcf_from_text(R"(<mujoco><visual/><worldbody><light/><geom size='1' solref='1 1'/>
    <body><joint/><geom size='1'/><composite/></body></worldbody><statistic/></mujoco>)");
  std::vector<NoticeRank> ranks;
  for (const Notice& notice : r.notices) ranks.push_back(notice.rank);
  using enum NoticeRank;
  EXPECT_EQ(ranks, (std::vector{motion, collision, look, look, unused}));
}

// what MJCF says
// ---------------------------------------------------------------------------------------------------------------------

/// An open surface that is not convex: figures of MuJoCo 4.0's compiler, whose meshes have single precision.
TEST(MjcfMeshes, InertiaByItsKind) {
  const auto body = [](const std::string& kind) {
    const Robot r = mjcf_from_text(
        "<mujoco><asset><mesh name='m'" + kind +
        " vertex='0 0 0 1 0 0 0 1.2 0 .1 0 .9 .3 .3 .2 2 .1 .1' face='0 2 1 0 1 3 1 4 3 0 3 2 2 3 4 1 5 4'/></asset>"
        "<worldbody><body name='b'><freejoint/><geom type='mesh' mesh='m' density='1'/></body></worldbody></mujoco>");
    return r.model.body(r.model.body_index("b")).spec.inertia;
  };
  struct Case {
    const char* kind;
    double mass;
    Vector3 center;
    Vector3 moments;
  };
  const Case cases[] = {
      {"", 0.13570163, {0.26338727, 0.28249374, 0.21253324}, {0.0076521, 0.01088621, 0.0148748}},
      {" inertia='legacy'", 0.13570163, {0.26338727, 0.28249374, 0.21253324}, {0.0076521, 0.01088621, 0.0148748}},
      {" inertia='exact'", 0.13125671, {0.2416449, 0.28053573, 0.20751326}, {0.00638133, 0.00996802, 0.01343132}},
      {" inertia='convex'", 0.39300000, {0.54599237, 0.31354963, 0.23854961}, {0.02938197, 0.06851677, 0.08380029}},
      {" inertia='shell'", 2.45670914, {0.33297752, 0.27964015, 0.22529543}, {0.25523138, 0.42518329, 0.55741208}},
  };
  for (const Case& c : cases) {
    const MassProperties inertia = body(c.kind);
    EXPECT_NEAR(inertia.mass, c.mass, 1e-7 * c.mass) << c.kind;
    EXPECT_NEAR_ABSOLUTE(inertia.center, c.center, 1e-7);
    const Vector3 moments = Eigen::SelfAdjointEigenSolver<Matrix3>(inertia.inertia).eigenvalues();
    EXPECT_NEAR_ABSOLUTE(moments, c.moments, 1e-7);
  }
}

/// A box's mesh: the box of its moments is the box itself.
TEST(MjcfMeshes, PrimitivesAreFitted) {
  const auto shape = [](const std::string& type) {
    const Robot r = mjcf_from_text(
        "<mujoco><asset><mesh name='m' vertex='0 0 0 1 0 0 0 2 0 1 2 0 0 0 4 1 0 4 0 2 4 1 2 4'/></asset>"
        "<worldbody><body name='b'><freejoint/><geom type='" +
        type + "' mesh='m'/></body></worldbody></mujoco>");
    return r.model.body(r.model.body_index("b")).spec.shapes[0];
  };
  Vector3 sides = shape("box").shape.get_if<Box>()->size;
  std::sort(sides.begin(), sides.end());
  EXPECT_NEAR_ABSOLUTE(sides, Vector3(1, 2, 4), 1e-12);
  EXPECT_NEAR_ABSOLUTE(shape("box").X_BS.p, Vector3(0.5, 1, 2), 1e-12);
  EXPECT_NEAR(shape("capsule").shape.get_if<Capsule>()->radius, 0.75, 1e-12);
  EXPECT_NEAR(shape("capsule").shape.get_if<Capsule>()->length, 2 * (2 - 0.375), 1e-12);
  EXPECT_NEAR(std::abs((shape("capsule").X_BS.R * Vector3::UnitX())[2]), 1.0, 1e-12);
  EXPECT_NEAR(shape("cylinder").shape.get_if<Cylinder>()->length, 4.0, 1e-12);
  EXPECT_NEAR(shape("sphere").shape.get_if<Sphere>()->radius, 3.5 / 3.0, 1e-12);
}

TEST(MjcfSites, AreFramesOfTheModel) {
  const Robot r = mjcf_from_text(R"(<mujoco><default><site pos='0 0 1'/></default><worldbody><site name='w'/>
    <body name='b' pos='1 0 0'><joint/><geom size='1'/><site name='tip' pos='0 2 0' euler='90 0 0'/>
      <frame pos='0 0 3'><site name='high'/></frame></body></worldbody></mujoco>)");
  EXPECT_TRUE(r.notices.empty());
  ASSERT_EQ(r.model.frames().size(), 3U);
  EXPECT_EQ(r.model.frame("w").body, kWorld);
  EXPECT_EQ(r.model.frame("w").X_BF.p, Vector3(0, 0, 1));
  EXPECT_EQ(r.model.frame("tip").body, r.model.body_index("b"));
  EXPECT_NEAR_ABSOLUTE(r.model.frame("tip").X_BF.R * Vector3::UnitY(), Vector3(Vector3::UnitZ()), 1e-15);
  EXPECT_EQ(r.model.frame("high").X_BF.p, Vector3(0, 0, 4));
  EXPECT_EQ(r.model.frame("b").X_BF.p, Vector3(Vector3::Zero()));
  try {
    (void)r.model.frame("tipp");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "frame: there is no frame 'tipp'; did you mean 'tip'?");
  }
}

TEST(MjcfReplicate, CopiesGoOnFromEachOther) {
  const Robot r = mjcf_from_text(R"(<mujoco><compiler angle='radian'/><worldbody>
    <replicate count='11' offset='1 0 0' euler='0 0 1.5707963267948966' sep='-'>
      <body name='b'><joint name='j'/><geom name='g' size='.1'/><site name='s'/></body></replicate></worldbody></mujoco>)");
  EXPECT_TRUE(r.notices.empty());
  ASSERT_EQ(r.model.num_bodies(), 11);
  EXPECT_EQ(r.model.body(1).spec.name, "b-01");
  EXPECT_EQ(r.model.body(10).spec.name, "b-10");
  EXPECT_EQ(r.model.joint(3).spec.name, "j-03");
  EXPECT_EQ(r.model.frame("s-02").body, 2);
  // around a square
  EXPECT_NEAR_ABSOLUTE(r.model.joint(1).spec.X_PJ.p, Vector3(1, 0, 0), 1e-14);
  EXPECT_NEAR_ABSOLUTE(r.model.joint(2).spec.X_PJ.p, Vector3(1, 1, 0), 1e-14);
  EXPECT_NEAR_ABSOLUTE(r.model.joint(4).spec.X_PJ.p, Vector3(0, 0, 0), 1e-14);
}

TEST(MjcfContact, PairsCollideWhateverTheirBitsAre) {
  const Robot r = mjcf_from_text(R"(<mujoco><default><geom contype='0' conaffinity='0'/></default><worldbody>
    <geom name='floor' type='plane'/><body name='a'><freejoint/><geom name='foot' size='.1'/><geom name='toe' size='.1'/></body>
    </worldbody><contact><pair geom1='floor' geom2='foot' friction='.5'/></contact></mujoco>)");
  const auto& floor = r.model.body(0).spec.shapes;
  const auto& foot = r.model.body(1).spec.shapes;
  ASSERT_EQ(floor.size(), 1U);
  ASSERT_EQ(foot.size(), 1U);
  EXPECT_NE(floor[0].group & foot[0].mask, 0U);
  EXPECT_NE(foot[0].group & floor[0].mask, 0U);
  EXPECT_EQ(foot[0].group & foot[0].mask, 0U);
  EXPECT_EQ(std::min(floor[0].friction, foot[0].friction), 0.5);
}

TEST(MjcfEquality, BetweenSites) {
  const Robot r = mjcf_from_text(R"(<mujoco><worldbody><site name='w' pos='0 0 1'/>
    <body name='a'><freejoint/><geom size='.1'/><site name='s' pos='0 .1 0'/></body></worldbody>
    <equality><weld name='hold' site1='w' site2='s'/><connect site1='w' site2='s'/></equality></mujoco>)");
  EXPECT_TRUE(r.notices.empty());
  ASSERT_EQ(r.model.constraints().size(), 2U);
  EXPECT_EQ(r.model.constraints()[0].kind, LoopConstraint::Kind::weld);
  EXPECT_EQ(r.model.constraints()[0].body_A, kWorld);
  EXPECT_EQ(r.model.constraints()[0].X_AC.p, Vector3(0, 0, 1));
  EXPECT_EQ(r.model.constraints()[1].X_BC.p, Vector3(0, 0.1, 0));
}

}  // namespace
}  // namespace tangere
