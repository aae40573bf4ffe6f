#!/usr/bin/env python3
"""`tangere inspect` from the outside.

    inspect_test.py BINARY [unittest arguments]
"""

import json
import unittest

from command import CommandTest, run


class InspectTest(CommandTest):
    def robot_file(self, more=""):
        """An arm with one hinge in line 4, and a gripper fixed to it."""
        file = self.path / "arm.urdf"
        file.write_text(f"""<robot name="arm">
<link name="base"><collision><geometry><box size="1 1 1"/></geometry></collision></link>
<link name="fore"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="fore"/><limit lower="-1" upper="2"/></joint>
<link name="grip"><inertial><mass value="0.5"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="weld" type="fixed"><parent link="fore"/><child link="grip"/></joint>
{more}</robot>""")
        return str(file)

    def test_inspect(self):
        result = run("inspect", self.robot_file())
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith("arm\n"))
        self.assertRegex(result.stdout, r"nq +1\n +nv +1\n +mass +2.5 kg\n")
        self.assertRegex(result.stdout, r"1 +fore +base +hinge +revolute +0 +\[-1, 2\] +2 +- +0\n")
        self.assertRegex(result.stdout, r"0 +base +world +root_joint +fixed +- +0 +box +0\n")
        self.assertNotIn("notice", result.stdout)

    def test_inspect_free_base(self):
        file = self.path / "rod.urdf"
        file.write_text("""<robot name="rod"><link name="rod"><inertial><mass value="2"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>""")
        self.assertRegex(run("inspect", str(file), "--base", "free").stdout, r"root_joint +free +0-5 ")
        # a base without mass turns with its only hinge: nothing could tell the two apart
        result = run("inspect", self.robot_file(), "--base", "free")
        self.assertIn("moves nothing that has inertia of its own: body 'base' gets 0.001 kg", result.stdout)
        strict = run("inspect", self.robot_file(), "--base", "free", "--strict")
        self.assertEqual(strict.returncode, 2)
        self.assertIn("moves nothing that has inertia of its own", strict.stderr)

    def test_inspect_for_machines(self):
        result = run("inspect", self.robot_file("<gazebo/>"), "--json")
        self.assertEqual(result.returncode, 0)
        report = json.loads(result.stdout)
        self.assertEqual((report["name"], report["nq"], report["nv"], report["mass"]), ("arm", 1, 1, 2.5))
        base, fore, grip = report["bodies"]
        self.assertEqual(base["shapes"][0]["shape"], {"type": "box", "size": [1, 1, 1]})
        self.assertEqual(fore["joint"]["dofs"][0]["upper"], 2)
        self.assertIsNone(fore["joint"]["dofs"][0]["effort"])
        self.assertEqual((grip["parent"], grip["joint"]["type"], grip["mass"]), ("fore", "fixed", 0.5))
        self.assertEqual((report["notices"][0]["line"], report["notices"][0]["rank"]), (7, "not used"))
        self.assertEqual(report["frames"], [])

    def test_inspect_details(self):
        """What a model knows is in the JSON, and what people look for in the text."""
        urdf = self.robot_file("""<link name="tip"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 3"/><geometry><sphere radius="2"/></geometry></visual></link>
<joint name="follower" type="prismatic"><parent link="grip"/><child link="tip"/><origin xyz="1 2 3"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="7" velocity="8"/><dynamics damping="0.25" friction="0.125"/><mimic joint="hinge" multiplier="2" offset="-0.5"/></joint>""")
        tip = json.loads(run("inspect", urdf, "--json").stdout)["bodies"][3]
        joint = tip["joint"]
        self.assertEqual(joint["axis"], [0, 0, 1])
        self.assertEqual(joint["in_parent"], {"position": [1, 2, 3], "quaternion": [0, 0, 0, 1]})
        self.assertEqual(joint["mimic"], {"joint": "hinge", "multiplier": 2, "offset": -0.5})
        self.assertEqual([joint["dofs"][0][key] for key in ("lower", "effort", "velocity", "damping", "friction")], [-1, 7, 8, 0.25, 0.125])
        self.assertEqual((tip["visuals"][0]["shape"], tip["visuals"][0]["position"]), ({"type": "sphere", "radius": 2}, [0, 0, 3]))
        text = run("inspect", urdf).stdout
        self.assertRegex(text, r"follower +0 0 1 +8 +7 +0.25 +0.125 +- +- +2 hinge - 0.5\n")
        self.assertRegex(text, r"base +box +1 1 1 +0 0 0 +1 ")

        mjcf = self.path / "robot.xml"
        mjcf.write_text("""<mujoco model="m"><compiler angle="radian"/><worldbody>
<body name="a"><joint name="j"/><geom size="0.1" contype="2" conaffinity="3" friction="0.5"/></body>
<body name="b" pos="1 0 0"><freejoint name="f"/><geom size="0.1"/></body></worldbody>
<contact><exclude body1="a" body2="b"/></contact>
<equality><connect name="tie" body1="a" body2="b" anchor="0.5 0 0"/></equality>
<actuator><position name="servo" joint="j" kp="30" ctrlrange="-1 2"/></actuator>
<keyframe><key name="home" qpos="0.5 1 0 0 1 0 0 0" ctrl="0.5"/></keyframe></mujoco>""")
        report = json.loads(run("inspect", str(mjcf), "--json").stdout)
        self.assertEqual(report["excluded_pairs"], [["a", "b"]])
        servo = report["actuators"][0]
        self.assertEqual([servo[key] for key in ("kind", "dof", "gain", "upper_control", "upper_force")], ["position", "j", 30, 2, None])
        tie = report["constraints"][0]
        self.assertEqual((tie["kind"], tie["body_a"], tie["in_a"]["position"]), ("connect", "a", [0.5, 0, 0]))
        home = [key for key in report["keyframes"] if key["name"] == "home"][0]
        self.assertEqual((home["q"][0], home["control"]), (0.5, [0.5]))
        self.assertEqual(len(report["start"]["q"]), report["nq"])
        self.assertEqual(report["bodies"][0]["shapes"][0]["friction"], 0.5)
        self.assertTrue(all(isinstance(report["bodies"][0]["shapes"][0][key], int) for key in ("group", "mask")))
        text = run("inspect", str(mjcf)).stdout
        self.assertRegex(text, r"servo +position +j +1 +30 +\[-1, 2\]\n")
        self.assertRegex(text, r"tie +connect +a +b\n")
        self.assertRegex(text, r"never collide\n +a +b\n")

    def test_inspect_names_obey(self):
        """Control characters of names do not reach a terminal."""
        file = self.path / "scene.json"
        file.write_text(json.dumps({"format": "tangere-scene", "version": 1, "bodies": [
            {"name": "ball\x1b[2J\x9b", "shape": {"type": "sphere", "radius": 1}}]}))
        result = run("inspect", str(file))
        self.assertEqual(result.returncode, 0)
        self.assertIn("ball?[2J?", result.stdout)
        self.assertNotIn("\x1b", result.stdout)
        file.write_text(json.dumps({"format": "tangere-scene", "version": 1, "bodies": [
            {"name": "\x1b[2Jball", "shape": {"type": "sphere", "radius": 1}}] * 2}))
        result = run("inspect", str(file))
        self.assertEqual(result.returncode, 2)
        self.assertNotIn("\x1b", result.stderr)
        self.assertIn("?[2Jball", result.stderr)

    def test_inspect_notices(self):
        file = self.robot_file("<gazebo/>")
        result = run("inspect", file)
        self.assertEqual(result.returncode, 0)
        self.assertIn("1 notice\n", result.stdout)
        self.assertIn("arm.urdf:7: robot[arm]/gazebo: this element is not used", result.stdout)
        strict = run("inspect", file, "--strict")
        self.assertEqual((strict.returncode, strict.stdout), (2, ""))
        self.assertIn("arm.urdf:7", strict.stderr)

    def test_inspect_names_stay_in_their_line(self):
        file = self.robot_file("""<link name="two&#10;lines"/><joint name="j" type="fixed"><parent link="base"/><child link="two&#10;lines"/></joint>""")
        self.assertIn(" two?lines ", run("inspect", file).stdout)

    def test_inspect_export(self):
        for form in ("urdf", "mjcf"):
            result = run("inspect", self.robot_file(), "--export", form)
            self.assertEqual(result.returncode, 0, result.stderr)
            again = self.path / f"again.{form}"
            again.write_text(result.stdout)
            self.assertRegex(run("inspect", str(again)).stdout, r"nv +1\n +mass +2.5 kg\n")

    def test_inspect_export_that_is_refused_leaves_the_file(self):
        file = self.path / "chain.urdf"
        links = "".join(f"<link name='l{i}'/>" for i in range(120))
        joints = "".join(f"<joint name='j{i}' type='fixed'><parent link='l{i}'/><child link='l{i + 1}'/></joint>" for i in range(119))
        file.write_text(f"<robot name='chain'>{links}{joints}</robot>")
        output = self.path / "kept.xml"
        output.write_text("kept")
        refused = run("inspect", str(file), "--export", "mjcf", "--output", str(output))
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("l", refused.stderr)
        self.assertEqual(output.read_text(), "kept")

    def test_inspect_export_keeps_the_start_of_a_scene(self):
        file = self.path / "scene.json"
        file.write_text("""{"format": "tangere-scene", "version": 1, "bodies": [{"name": "crate", "mass": 2, "position": [1, 2, 3],
"shape": {"type": "box", "size": [1, 1, 1]}, "velocity": [4, 0, 0, 0, 0, 0]}]}""")
        again = self.path / "again.xml"
        result = run("inspect", str(file), "--export", "mjcf", "--output", str(again))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        key = json.loads(run("inspect", str(again), "--json").stdout)["keyframes"][0]
        self.assertEqual((key["name"], key["q"], key["v"]), ("initial", [1, 2, 3, 0, 0, 0, 1], [4, 0, 0, 0, 0, 0]))

    def test_inspect_export_with_meshes(self):
        (self.path / "t.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
        file = self.robot_file("""<link name="x"><collision><geometry><mesh filename="t.obj"/></geometry></collision>
<visual><geometry><mesh filename="t.obj"/></geometry></visual></link>
<joint name="j" type="fixed"><parent link="base"/><child link="x"/></joint>""")
        refused = run("inspect", file, "--export", "urdf")
        self.assertEqual((refused.returncode, refused.stdout), (2, ""))
        self.assertIn("a mesh needs a file", refused.stderr)
        for form in ("urdf", "mjcf"):
            again = self.path / "elsewhere" / f"again.{form}"
            again.parent.mkdir(exist_ok=True)
            result = run("inspect", file, "--export", form, "--output", str(again))
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
            report = json.loads(run("inspect", str(again), "--json").stdout)
            body = [body for body in report["bodies"] if body["name"] == "x"][0]
            self.assertEqual(len(body["shapes"][0]["shape"]["A"]), 4)
            self.assertEqual(body["visuals"][0]["mesh"]["triangles"], 4)
        self.assertEqual(run("inspect", file, "--output", "x").returncode, 2)

    def test_inspect_bad_files(self):
        for content, message in (
            ("", "there is no XML in it"),
            ("<sdf/>", "bad.urdf:1: sdf: must be <robot> (URDF) or <mujoco> (MJCF)"),
            ("<robot name='r'>\n<link name='a'/>\n<link name='a'/></robot>", "bad.urdf:3: robot[r]/link[a].name: there is a link"),
        ):
            file = self.path / "bad.urdf"
            file.write_text(content)
            result = run("inspect", str(file))
            self.assertEqual((result.returncode, result.stdout), (2, ""), content)
            self.assertIn(message, result.stderr)
        missing = self.robot_file("""<link name="x"><collision><geometry><mesh filename="package://p/m.stl"/></geometry></collision></link>
<joint name="j" type="fixed"><parent link="base"/><child link="x"/></joint>""")
        result = run("inspect", missing, "--package-path", "/one", "--package-path", "/two")
        self.assertEqual(result.returncode, 2)
        self.assertIn("/one/p/m.stl", result.stderr)
        self.assertIn("/two/p/m.stl", result.stderr)
        self.assertIn("there is no such file", run("inspect", str(self.path / "none.urdf")).stderr)


if __name__ == "__main__":
    unittest.main()
