(** Parameters that cannot matter in sums whose c is aligned apart from the products, or added to their sum before that is
    rounded. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  AtOnce Mirror Axes Signs Zeros Large Operands Stages DownAgain FrameErrors.
Import ListNotations.
Open Scope Z_scope.

(** * Sums in c's frame *)

Definition frame_with (d : frame) (z : zero_rule) (dr : bool) (first : option conversion) (o : conversion) : frame :=
  {| frame_bits := frame_bits d; c_bits := Design.c_bits d; frame_mode := frame_mode d; frame_zero := z; complement := complement d; drops_c := dr;
     group_size := group_size d; first_rounding := first; frame_out := o |}.

Notation with_frame_zero d z := (frame_with d z (drops_c d) (first_rounding d) (frame_out d)).

Definition grouped (d : frame) : bool := match group_size d with Some _ => true | None => false end.

(** The exponent of the unit of all counts. *)
Definition frame_grid (d : frame) (ps : list num) (c : num) : option Z :=
  omax_list (grid_of d (Design.c_bits d) true c :: map (grid_of d (frame_bits d) (negb (grouped d))) ps).

(** Counts in units of [2^g], and their sum's rounding. *)
Definition frame_all (d : frame) (g : Z) (ps : list num) (c : num) : list Z :=
  if forallb is_zero (ps ++ [c]) then [0]
  else frame_counts d g ps c ++ [if drops_c d && (emin (frame_out d) <? g) && (cut RZ g c =? 0) then 0 else cut (frame_mode d) g c].
Definition frame_end (d : frame) (ts : list num) (ns : list Z) (g : Z) : val :=
  match first_rounding d with
  | None => convert (frame_out d) (sign_of (rho (frame_out d)) (zsum ns) ts ns) (zsum ns) g
  | Some f => match convert f (sign_of (rho f) (zsum ns) ts ns) (zsum ns) g with Num x => round_num (Floating (frame_out d)) x | v => v end
  end.
Definition unit_or_0 (o : option Z) : Z := match o with Some g => g | None => 0 end.

Lemma framed_parts d ps c : framed_sum d ps c =
  frame_end d (ps ++ [c]) (frame_all d (unit_or_0 (frame_grid d ps c)) ps c) (unit_or_0 (frame_grid d ps c)).
Proof. reflexivity. Qed.

(** The same sum in another unit. *)
Lemma frame_end_ext d ts ns ns' g g' : Forall2 (fun n m => (IZR n * bp g = IZR m * bp g')%R) ns ns' -> frame_end d ts ns g = frame_end d ts ns' g'.
Proof.
  intros F. assert (Z : (IZR (zsum ns) * bp g = IZR (zsum ns') * bp g')%R).
  { induction F as [|n m ns ns' E F IH]; [cbn; ring|]. unfold zsum in *. cbn [fold_right]. rewrite !plus_IZR, !Rmult_plus_distr_r, E, IH. reflexivity. }
  assert (Q : forallb (Z.eqb 0) ns = forallb (Z.eqb 0) ns').
  { clear Z. induction F as [|n m ns ns' E F IH]; [reflexivity|]. cbn [forallb]. rewrite IH, !(Z.eqb_sym 0), (scaled_zero _ _ _ _ E). reflexivity. }
  assert (S : forall m, sign_of m (zsum ns) ts ns = sign_of m (zsum ns') ts ns').
  { intros m. unfold sign_of. now rewrite (scaled_zero _ _ _ _ Z), (scaled_neg _ _ _ _ Z), Q. }
  unfold frame_end. destruct (first_rounding d) as [f|]; rewrite S; [|now apply convert_ext]. now rewrite (convert_ext f _ _ _ _ _ _ Z eq_refl).
Qed.

(** ** The exponent of zeros *)

Lemma grid_of_multiple m x : multiple m x -> on_grid m (V x).
Proof. intros M. exists (cut RZ m x). symmetry. rewrite cut_ok. now apply fix_rnd_multiple. Qed.


(** The same exponent, or a larger one that is at most [m]. *)
Definition raised (m : Z) (a b : option Z) : Prop := a = b \/ exists g, a = Some g /\ g <= m /\ ole b (Some g).

Lemma raised_max m a b a' b' : raised m a b -> raised m a' b' -> raised m (omax a a') (omax b b').
Proof.
  intros [->|[g [-> [G O]]]] [->|[g' [-> [G' O']]]]; [now left| | |].
  - destruct b as [x|]; [|right; exists g'; split; [reflexivity|split; [exact G'|exact O']]].
    destruct (Z_le_gt_dec g' x) as [L|L].
    + left. destruct b' as [y|]; cbn in *; f_equal; lia.
    + right. exists g'. cbn. split; [f_equal; lia|]. split; [lia|]. destruct b' as [y|]; cbn in *; lia.
  - destruct b' as [x|]; [|right; exists g; split; [destruct b; reflexivity|split; [exact G|destruct b; exact O]]]. destruct (Z_le_gt_dec g x) as [L|L].
    + left. destruct b as [y|]; cbn in *; f_equal; lia.
    + right. exists g. cbn. split; [f_equal; lia|]. split; [lia|]. destruct b as [y|]; cbn in *; lia.
  - right. exists (Z.max g g'). cbn. split; [reflexivity|]. split; [lia|]. destruct b as [x|], b' as [y|]; cbn in *; lia.
Qed.

(** What is known of numbers that are not zero: their exponents' least grid, and of what they are multiples. *)
Definition frame_known (m low : Z) (bits : Z) (x : num) : Prop := multiple m x /\ (is_zero x = false -> low <= exp x - bits).

Section Zeros.
Variables (d : frame) (ps : list num) (c : num) (m low top : Z).
Hypothesis Kp : Forall (frame_known m low (frame_bits d)) ps.
Hypothesis Kc : frame_known m low (Design.c_bits d) c.
Let d0 := with_frame_zero d ZeroNone.
(** No zero asks for a unit above [top]. *)
Hypothesis Tp : forall x g, In x ps -> is_zero x = true -> grid_of d (frame_bits d) (negb (grouped d)) x = Some g -> g <= top.
Hypothesis Tc : forall g, is_zero c = true -> grid_of d (Design.c_bits d) true c = Some g -> g <= top.

Lemma grid_raised bits zs x : (forall g, is_zero x = true -> grid_of d bits zs x = Some g -> g <= top) ->
  raised top (grid_of d bits zs x) (grid_of d0 bits zs x).
Proof.
  intros T. unfold grid_of at 2. cbn [frame_zero d0 frame_with]. destruct (is_zero x) eqn:Zx; cbn [negb] in *.
  - assert (N : (if negb zs then None else @None Z) = None) by now destruct (negb zs). rewrite N.
    destruct (grid_of d bits zs x) as [g|] eqn:G; [right; exists g; split; [reflexivity|split; [now apply T|exact I]]|now left].
  - left. unfold grid_of. now rewrite Zx.
Qed.

Lemma unit_raised : raised top (frame_grid d ps c) (frame_grid d0 ps c).
Proof.
  unfold frame_grid, omax_list. change (grouped d0) with (grouped d). cbn [fold_right]. apply raised_max; [apply grid_raised; auto|].
  change (frame_bits d0) with (frame_bits d). clear -Tp. induction ps as [|x l IH]; [now left|]. cbn [map fold_right]. apply raised_max.
  - apply grid_raised. intros g. apply Tp. now left.
  - apply IH. intros y g Hy. apply Tp. now right.
Qed.

Lemma live_grid e x bits : In (x, bits) ((c, Design.c_bits d) :: map (fun x => (x, frame_bits d)) ps) -> is_zero x = false ->
  frame_grid d0 ps c = e -> ole (Some (exp x - bits)) e.
Proof.
  intros Hx Z <-. unfold frame_grid, omax_list. cbn [fold_right].
  assert (L : forall b zs, grid_of d0 b zs x = Some (exp x - b)) by (intros; unfold grid_of; now rewrite Z).
  destruct Hx as [H|H]; [injection H as <- <-; change (Design.c_bits d0) with (Design.c_bits d); rewrite L; apply ole_max_l|].
  eapply ole_trans; [|apply ole_max_r]. apply in_map_iff in H. destruct H as [y [H Hy]]. injection H as -> <-.
  change (frame_bits d0) with (frame_bits d). rewrite <- (L (frame_bits d) (negb (grouped d0))).
  clear -Hy. induction ps as [|z l IH]; [easy|]. cbn [map fold_right]. destruct Hy as [->|Hy]; [apply ole_max_l|]. eapply ole_trans; [now apply IH|apply ole_max_r].
Qed.

(** Zeros are below all others. *)
Lemma zeros_below : top <= low -> framed_sum d ps c = framed_sum d0 ps c.
Proof.
  intros T. rewrite !framed_parts. destruct (forallb is_zero (ps ++ [c])) eqn:A.
  - change (frame_end d0) with (frame_end d). unfold frame_all. rewrite A. apply frame_end_ext. repeat constructor. ring.
  - destruct unit_raised as [->|[g [G [Gt O]]]]; [reflexivity|].
    assert (H : frame_grid d ps c = frame_grid d0 ps c); [|rewrite H; reflexivity]. rewrite G.
    assert (N : exists x bits, In (x, bits) ((c, Design.c_bits d) :: map (fun x => (x, frame_bits d)) ps) /\ is_zero x = false /\ low <= exp x - bits).
    { rewrite forallb_app in A. cbn [forallb] in A. rewrite andb_true_r in A. destruct (is_zero c) eqn:Zc.
      - rewrite andb_true_r in A. clear -A Kp. induction Kp as [|x l [_ K] F IH]; [easy|]. cbn [forallb] in A. destruct (is_zero x) eqn:Zx.
        + destruct (IH F A) as [y [b [[Hy|Hy] R]]]; exists y, b; (split; [|exact R]); [now left|right; now right].
        + exists x, (frame_bits d). split; [right; now left|auto].
      - exists c, (Design.c_bits d). split; [now left|]. split; auto. now apply Kc. }
    destruct N as [x [b [Hx [Zx L]]]]. pose proof (live_grid _ x b Hx Zx eq_refl) as Q. destruct (frame_grid d0 ps c) as [g0|]; cbn in *; [f_equal; lia|easy].
Qed.

Lemma fix_on_grid r u y : on_grid m y -> u <= m -> fix_rnd r u y = y.
Proof. intros [k ->] U. destruct (scaled_multiple k m u U) as [j ->]. apply fix_multiple. Qed.

Lemma grid_sum l : Forall (frame_known m low (frame_bits d)) l -> on_grid m (exact_sum l).
Proof.
  induction 1 as [|x l [M _] F IH]; [exists 0; cbn; ring|]. unfold exact_sum in *. cbn [map Rsum fold_right]. apply grid_plus; auto using grid_of_multiple.
Qed.

Lemma cuts_exact r u l : Forall (frame_known m low (frame_bits d)) l -> u <= m -> (IZR (zsum (map (cut r u) l)) * bp u = exact_sum l)%R.
Proof.
  intros F U. induction F as [|x l [M _] F IH]; [cbn; ring|]. unfold exact_sum, zsum in *. cbn [map fold_right Rsum]. rewrite plus_IZR, Rmult_plus_distr_r, IH, cut_ok.
  rewrite fix_on_grid; auto using grid_of_multiple.
Qed.

Lemma group_exact g l : Forall (frame_known m low (frame_bits d)) l -> g <= m -> (forall x, In x l -> is_zero x = false -> exp x - frame_bits d <= m) ->
  (IZR (frame_groups d g l) * bp g = exact_sum l)%R.
Proof.
  intros F G U. unfold frame_groups. rewrite <- live_sum. set (live := filter _ l).
  assert (In1 : forall x, In x live -> In x l /\ is_zero x = false).
  { intros x Hx. apply filter_In in Hx. destruct Hx as [H1 H2]. now apply negb_true_iff in H2. }
  assert (Fl : Forall (frame_known m low (frame_bits d)) live) by (apply Forall_forall; intros x Hx; rewrite Forall_forall in F; now apply F, In1).
  set (u := match omax_list _ with Some e => e - frame_bits d | None => g end). assert (Um : u <= m).
  { unfold u. destruct live as [|x r] eqn:L; [exact G|]. rewrite <- L in *. destruct (some_largest live) as [y [Hy ->]]; [now rewrite L|]. now apply U; apply In1. }
  rewrite round_div_fix, cuts_exact by auto. apply fix_on_grid; auto. now apply grid_sum.
Qed.

(** Nothing is cut off beside zeros. *)
Lemma zeros_cut : complement d = false -> top <= m -> framed_sum d ps c = framed_sum d0 ps c.
Proof.
  intros K T. rewrite !framed_parts. destruct (forallb is_zero (ps ++ [c])) eqn:A.
  - change (frame_end d0) with (frame_end d). unfold frame_all. rewrite A. apply frame_end_ext. repeat constructor. ring.
  - destruct unit_raised as [->|[g [G [Gt O]]]]; [reflexivity|]. rewrite G. cbn [unit_or_0].
    set (g0 := unit_or_0 (frame_grid d0 ps c)).
    assert (Q : forall x, In x ps -> is_zero x = false -> exp x - frame_bits d <= m).
    { intros x Hx Zx. assert (H : In (x, frame_bits d) ((c, Design.c_bits d) :: map (fun x => (x, frame_bits d)) ps)) by (right; apply in_map_iff; eauto).
      pose proof (live_grid _ x _ H Zx eq_refl) as L. destruct (frame_grid d0 ps c); cbn in *; lia. }
    assert (Ex : g0 <= m).
    { unfold g0. destruct (frame_grid d0 ps c) as [e|] eqn:E0; cbn in *; [lia|]. exfalso. rewrite forallb_app in A. cbn [forallb] in A. rewrite andb_true_r in A.
      assert (All : forall x b, In (x, b) ((c, Design.c_bits d) :: map (fun x => (x, frame_bits d)) ps) -> is_zero x = true).
      { intros x b H. destruct (is_zero x) eqn:Zx; auto. now pose proof (live_grid _ x b H Zx E0). }
      assert (Zp : forallb is_zero ps = true) by (apply forallb_forall; intros x Hx; apply (All x (frame_bits d)); right; apply in_map_iff; eauto).
      rewrite Zp, (All c (Design.c_bits d)) in A by now left. easy. }
    unfold frame_all. rewrite A. change (frame_end d0) with (frame_end d). apply frame_end_ext. apply Forall2_app.
    + unfold frame_counts. change (group_size d0) with (group_size d). change (complement d0) with (complement d). rewrite K.
      assert (C : forall gg, gg <= m -> forall x, In x ps -> (IZR (cut (frame_mode d) gg x + 0) * bp gg = V x)%R).
      { intros gg Hg x Hx. rewrite Z.add_0_r, cut_ok. rewrite Forall_forall in Kp. apply fix_on_grid; auto. now apply grid_of_multiple, Kp. }
      destruct (group_size d) as [size|].
      * assert (F : Forall (fun l => Forall (frame_known m low (frame_bits d)) l /\ forall x, In x l -> is_zero x = false -> exp x - frame_bits d <= m) (cut_list (length ps) size ps)).
        { assert (F : Forall (fun x => frame_known m low (frame_bits d) x /\ (is_zero x = false -> exp x - frame_bits d <= m)) ps)
            by (apply Forall_forall; intros x Hx; split; [now rewrite Forall_forall in Kp; apply Kp|auto]).
          pose proof (cut_list_Forall _ size (length ps) ps F) as Fc. eapply Forall_impl; [|exact Fc]. intros l Fl. split.
          - eapply Forall_impl; [|exact Fl]. now intros x [H _].
          - intros x Hx. rewrite Forall_forall in Fl. now apply Fl. }
        change (Forall2 (fun n k => (IZR n * bp g)%R = (IZR k * bp g0)%R) (map (frame_groups d g) (cut_list (length ps) size ps)) (map (frame_groups d g0) (cut_list (length ps) size ps))).
        induction F as [|l ls [F1 F2] F IH]; cbn [map]; constructor; auto.
        rewrite (group_exact g l F1 ltac:(lia) F2). symmetry. exact (group_exact g0 l F1 Ex F2).
      * assert (C1 := C g ltac:(lia)). assert (C2 := C g0 Ex). clearbody g0. clear -C1 C2. change (frame_mode d0) with (frame_mode d). induction ps as [|x l IH]; cbn [map]; constructor.
        -- rewrite C1, C2 by now left. reflexivity.
        -- apply IH; intros; [apply C1|apply C2]; now right.
    + repeat constructor. change (drops_c d0) with (drops_c d). change (frame_out d0) with (frame_out d). change (frame_mode d0) with (frame_mode d). destruct Kc as [Mc _].
      assert (C : forall gg, gg <= m -> (IZR (if drops_c d && (emin (frame_out d) <? gg) && (cut RZ gg c =? 0) then 0 else cut (frame_mode d) gg c) * bp gg = V c)%R).
      { intros gg Hg. pose proof (cut_ok RZ gg c) as C0. rewrite fix_on_grid in C0 by auto using grid_of_multiple.
        destruct (_ && _) eqn:Gn; [apply andb_prop in Gn; destruct Gn as [_ Gn]; apply Z.eqb_eq in Gn; now rewrite Gn in C0|].
        rewrite cut_ok. apply fix_on_grid; auto using grid_of_multiple. }
      now rewrite (C g ltac:(lia)), (C g0 Ex).
Qed.

(** What zeros ask for is so small that all sums of numbers below are flushed. *)
Definition first_of : conversion := match first_rounding d with Some f => f | None => frame_out d end.
Hypothesis Sm : (forall x, In x ps -> is_zero x = false -> exp x - frame_bits d <= top) -> (is_zero c = false -> exp c - Design.c_bits d <= top) ->
  (Integers.magnitude (ps ++ [c]) + INR (length ps) * bp top <= bp (emin first_of - 1))%R.

Lemma flushed_zero g ns ts : 1 <= p first_of -> flushes first_of = true -> zsign first_of = Positive -> (Rabs (IZR (zsum ns) * bp g) <= bp (emin first_of - 1))%R ->
  frame_end d ts ns g = match first_rounding d with
    | Some _ => round_num (Floating (frame_out d)) {| neg := false; sig := 0; exp := emin first_of; frac := p first_of |}
    | None => Num {| neg := false; sig := 0; exp := emin first_of; frac := p first_of |} end.
Proof.
  intros P F Zs A. set (o := first_of) in *.
  assert (E : convert o (sign_of (rho o) (zsum ns) ts ns) (zsum ns) g = Num {| neg := false; sig := 0; exp := emin o; frac := p o |}).
  { unfold convert. set (r := round_div _ _ _). rewrite F, Zs. cbn [andb].
    assert (Q : (r =? 0) || ((Z.log2 (Z.abs r) + last_bit o (zsum ns) g <? emin o) || tiny o && is_tiny o (zsum ns) g) = true); [|now rewrite Q].
    destruct (Z.eqb_spec r 0) as [R|R]; [reflexivity|]. cbn [orb]. destruct (round_div_log2 o (zsum ns) g R) as [B1 _]. fold r in B1.
    assert (H : (Rabs (flt_rnd o (IZR (zsum ns) * bp g)) <= bp (emin o - 1))%R) by (apply flt_rnd_bound; lia || auto).
    assert (L : Z.log2 (Z.abs r) + last_bit o (zsum ns) g <= emin o - 1) by (apply (le_bpow radix2); lra).
    rewrite (proj2 (Z.ltb_lt _ _)) by lia. reflexivity. }
  unfold frame_end, o, first_of in *. destruct (first_rounding d); now rewrite E.
Qed.

Lemma zeros_flushed : group_size d = None -> frame_mode d = RZ -> 1 <= p first_of -> flushes first_of = true -> zsign first_of = Positive ->
  framed_sum d ps c = framed_sum d0 ps c.
Proof.
  intros Gs M P F Zs. rewrite !framed_parts. destruct (forallb is_zero (ps ++ [c])) eqn:A.
  - change (frame_end d0) with (frame_end d). unfold frame_all. rewrite A. apply frame_end_ext. repeat constructor. ring.
  - destruct unit_raised as [->|[g [G [Gt O]]]]; [reflexivity|]. rewrite G. cbn [unit_or_0]. change (frame_end d0) with (frame_end d).
    set (g0 := unit_or_0 (frame_grid d0 ps c)).
    assert (Lp : forall x, In x ps -> is_zero x = false -> exp x - frame_bits d <= top).
    { intros x Hx Zx. assert (H : In (x, frame_bits d) ((c, Design.c_bits d) :: map (fun x => (x, frame_bits d)) ps)) by (right; apply in_map_iff; eauto).
      pose proof (live_grid _ x _ H Zx eq_refl) as L. destruct (frame_grid d0 ps c); cbn in *; lia. }
    assert (Lc : is_zero c = false -> exp c - Design.c_bits d <= top).
    { intros Zx. pose proof (live_grid _ c (Design.c_bits d) (or_introl eq_refl) Zx eq_refl) as L. destruct (frame_grid d0 ps c); cbn in *; lia. }
    assert (G0 : g0 <= top).
    { unfold g0. destruct (frame_grid d0 ps c) as [e|] eqn:E0; cbn in *; [lia|]. exfalso. rewrite forallb_app in A. cbn [forallb] in A. rewrite andb_true_r in A.
      assert (All : forall x b, In (x, b) ((c, Design.c_bits d) :: map (fun x => (x, frame_bits d)) ps) -> is_zero x = true).
      { intros x b H. destruct (is_zero x) eqn:Zx; auto. now pose proof (live_grid _ x b H Zx E0). }
      assert (Zp : forallb is_zero ps = true) by (apply forallb_forall; intros x Hx; apply (All x (frame_bits d)); right; apply in_map_iff; eauto).
      rewrite Zp, (All c (Design.c_bits d)) in A by now left. easy. }
    pose proof (Sm Lp Lc) as Sm'.
    assert (B : forall h, h <= top -> (Rabs (IZR (zsum (frame_all d h ps c)) * bp h) <= bp (emin first_of - 1))%R).
    { intros h Hh. eapply Rle_trans; [|exact Sm']. unfold frame_all. rewrite A, zsum_app, plus_IZR, Rmult_plus_distr_r. rewrite magnitude_app.
      eapply Rle_trans; [apply Rabs_triang|]. unfold frame_counts. rewrite Gs.
      assert (Bt : (0 < bp h <= bp top)%R) by (split; [apply bpow_gt_0|now apply bpow_le]).
      assert (C1 : (Rabs (IZR (zsum (map (one_count d h c) ps)) * bp h) <= Integers.magnitude ps + INR (length ps) * bp top)%R).
      { clear -Bt M. induction ps as [|x l IH]; [cbn; rewrite Rmult_0_l, Rabs_R0; lra|]. unfold zsum, Integers.magnitude, Rsum in *. cbn [map fold_right length].
        rewrite plus_IZR, Rmult_plus_distr_r, S_INR. eapply Rle_trans; [apply Rabs_triang|]. pose proof (cut_less h x) as Q. unfold one_count at 1. rewrite M.
        set (a := if _ && _ then _ else 0). assert (Q2 : (Rabs (IZR a * bp h) <= bp top)%R)
          by (unfold a; destruct (_ && _); [destruct (neg c)|]; rewrite Rabs_mult, (Rabs_pos_eq (bp h)), <- abs_IZR by lra; cbn [Z.abs]; lra).
        rewrite plus_IZR, Rmult_plus_distr_r. pose proof (Rabs_triang (IZR (cut RZ h x) * bp h) (IZR a * bp h)) as Q3. lra. }
      assert (C2 : forall n : Z, n = 0 \/ n = cut (frame_mode d) h c -> (Rabs (IZR (zsum [n]) * bp h) <= Integers.magnitude [c])%R).
      { intros n Hn. unfold Integers.magnitude, zsum, Rsum. cbn [map fold_right]. rewrite Z.add_0_r, Rplus_0_r.
        destruct Hn as [->| ->]; [rewrite Rmult_0_l, Rabs_R0; apply Rabs_pos|rewrite M; apply cut_less]. }
      change (map _ ps) with (map (one_count d h c) ps). match goal with |- context [zsum [?n]] => specialize (C2 n ltac:(destruct (_ && _); auto)) end. lra. }
    change (frame_all d0) with (frame_all d). rewrite (flushed_zero g _ _ P F Zs (B g Gt)), (flushed_zero g0 _ _ P F Zs (B g0 G0)). reflexivity.
Qed.
End Zeros.

(** ** A c that is dropped, infinities, signs of zeros *)

Lemma dropped_idle d z f o ps c : frame_mode d = RZ -> framed_sum (frame_with d z false f o) ps c = framed_sum (frame_with d z (drops_c d) f o) ps c.
Proof.
  intros M. rewrite !framed_parts. change (frame_grid (frame_with d z false f o) ps c) with (frame_grid (frame_with d z (drops_c d) f o) ps c).
  set (g := unit_or_0 _). change (frame_end (frame_with d z false f o)) with (frame_end (frame_with d z (drops_c d) f o)). f_equal.
  unfold frame_all. destruct (forallb is_zero (ps ++ [c])); auto. cbn [drops_c frame_mode frame_out frame_with andb]. f_equal. f_equal.
  destruct (drops_c d && _ && _) eqn:G; auto. apply andb_prop in G. destruct G as [_ G]. apply Z.eqb_eq in G. now rewrite M.
Qed.

Lemma plain_emin c : emin (plain_overflow c) = emin c.
Proof. unfold plain_overflow. now destruct (always_infinite c). Qed.

Lemma infinite_idle d z f o dr ps c :
  framed_sum (frame_with d z dr (option_map plain_overflow f) (plain_overflow o)) ps c = framed_sum (frame_with d z dr f o) ps c.
Proof.
  rewrite !framed_parts. set (d' := frame_with d z dr _ _). change (frame_grid d' ps c) with (frame_grid (frame_with d z dr f o) ps c). set (g := unit_or_0 _).
  assert (A : frame_all d' g ps c = frame_all (frame_with d z dr f o) g ps c) by (unfold frame_all; cbn [frame_out d' frame_with]; now rewrite plain_emin).
  rewrite A. unfold frame_end. cbn [first_rounding frame_out d' frame_with]. destruct f as [f|]; cbn [option_map]; rewrite !plain_rho, !plain_overflow_same; auto.
  destruct (convert f _ _ _); auto. unfold round_num. cbn [round_to]. now rewrite plain_overflow_same.
Qed.

(** Rounded down, what a first rounding left is not too large. *)
Definition plain_last (first : option conversion) (o : conversion) : conversion :=
  match first with
  | Some f => if range_ok f && range_ok o && (emax f <=? emax o) && match rho o with RZ | RO => true | _ => false end then with_overflow o Infinite else plain_overflow o
  | None => plain_overflow o
  end.

Lemma plain_last_idle d z f o dr ps c :
  framed_sum (frame_with d z dr (option_map plain_overflow f) (plain_last f o)) ps c = framed_sum (frame_with d z dr f o) ps c.
Proof.
  unfold plain_last. destruct f as [f|]; [|apply infinite_idle]. destruct (_ && _) eqn:O; [|apply infinite_idle].
  repeat rewrite andb_true_iff in O. destruct O as [[[Rf Ro] E] M]. unfold range_ok in Rf, Ro. apply andb_prop in Rf, Ro. destruct Rf as [Pf Mf], Ro as [Po Mo]. apply Z.leb_le in Pf, Mf, Po, Mo, E.
  rewrite <- (infinite_idle d z (Some f) o). rewrite !framed_parts. set (d' := frame_with d z dr _ _). set (d2 := frame_with d z dr _ (plain_overflow o)).
  change (frame_grid d' ps c) with (frame_grid d2 ps c). set (g := unit_or_0 _).
  assert (A : frame_all d' g ps c = frame_all d2 g ps c) by (unfold frame_all; cbn [frame_out d' d2 frame_with]; rewrite plain_emin; reflexivity).
  rewrite A. unfold frame_end. cbn [first_rounding frame_out d' d2 frame_with option_map].
  destruct (convert (plain_overflow f) _ _ g) as [x| |] eqn:Cv; auto. rewrite plain_overflow_same in Cv. unfold round_num. cbn [round_to]. rewrite plain_overflow_same.
  apply overflow_unseen, not_large_down; auto; [destruct (rho o); auto; easy|]. pose proof (convert_within f _ _ _ x Pf Mf Cv) as W. pose proof (max_between f Pf) as [_ B].
  eapply Rle_lt_trans; [exact W|]. eapply Rlt_le_trans; [exact B|]. apply bpow_le. lia.
Qed.

(** What a sum of multiples is, in any unit. *)
Lemma frame_multiple d g m ps c : complement d = false -> Forall (multiple m) ps -> multiple m c -> on_grid m (IZR (zsum (frame_all d g ps c)) * bp g)%R.
Proof.
  intros K Fp Fc. unfold frame_all. destruct (forallb is_zero (ps ++ [c])); [exists 0; cbn; ring|].
  assert (Cut : forall r u x, multiple m x -> on_grid m (IZR (cut r u x) * bp u)%R) by (intros r u x Mx; rewrite cut_ok; now apply fix_grid, grid_of_multiple).
  assert (Sum : forall l, Forall (fun n => on_grid m (IZR n * bp g)%R) l -> on_grid m (IZR (zsum l) * bp g)%R).
  { induction 1 as [|n l H F IH]; [exists 0; cbn; ring|]. unfold zsum in *. cbn [fold_right]. rewrite plus_IZR, Rmult_plus_distr_r. now apply grid_plus. }
  apply Sum, Forall_app. split; [|constructor; [|constructor]; destruct (_ && _); [apply grid_zero|now apply Cut]].
  unfold frame_counts. rewrite K. destruct (group_size d) as [size|].
  - pose proof (cut_list_Forall _ size (length ps) ps Fp) as F. apply Forall_forall. intros n Hn. apply in_map_iff in Hn. destruct Hn as [l [<- Hl]].
    rewrite Forall_forall in F. specialize (F l Hl). set (live := filter _ l). cbv zeta. set (u := match omax_list _ with Some e => e - frame_bits d | None => g end).
    apply grid_round. assert (Fl : Forall (multiple m) live) by (apply Forall_forall; intros x Hx; apply filter_In in Hx; rewrite Forall_forall in F; now apply F).
    clearbody u. clear -Fl Cut. induction Fl as [|x r H Fl IH]; [exists 0; cbn; ring|]. unfold zsum in *. cbn [map fold_right]. rewrite plus_IZR, Rmult_plus_distr_r. apply grid_plus; auto.
  - apply Forall_forall. intros n Hn. apply in_map_iff in Hn. destruct Hn as [x [<- Hx]]. cbn [andb]. rewrite Z.add_0_r. rewrite Forall_forall in Fp. auto.
Qed.

Lemma unvanished_sign c s n u : zsign c = SumSign -> flushes c = false -> (n <> 0 -> round_div (rho c) n (last_bit c n u - u) <> 0) ->
  convert (with_zero_sign c Positive) s n u = convert c s n u.
Proof.
  intros Zs F R. unfold convert. change (last_bit (with_zero_sign c Positive)) with (last_bit c). cbn [rho flushes with_zero_sign zsign p emin emax]. rewrite F. cbn [andb].
  rewrite orb_false_r, Zs. destruct (Z.eq_dec n 0) as [->|N]; [rewrite round_div_0; reflexivity|].
  destruct (Z.eqb_spec (round_div (rho c) n (last_bit c n u - u)) 0) as [Q|Q]; [now apply R in Q|reflexivity].
Qed.

Definition vanish_sign (m : Z) (d : frame) : bool :=
  none (first_rounding d) && negb (complement d) && match zsign (frame_out d) with SumSign => true | _ => false end && negb (flushes (frame_out d)) &&
  (0 <=? p (frame_out d)) && (emin (frame_out d) - p (frame_out d) <=? m).

Lemma sign_idle d m ps c : vanish_sign m d = true -> Forall (multiple m) ps -> multiple m c ->
  framed_sum (frame_with d (frame_zero d) (drops_c d) None (with_zero_sign (frame_out d) Positive)) ps c = framed_sum d ps c.
Proof.
  unfold vanish_sign. intros O Fp Fc. repeat rewrite andb_true_iff in O. destruct O as [[[[[O1 K] Zs] Fl] P] G]. apply negb_true_iff in K, Fl. apply Z.leb_le in P, G.
  assert (F1 : first_rounding d = None) by now destruct (first_rounding d). assert (Z1 : zsign (frame_out d) = SumSign) by now destruct (zsign (frame_out d)).
  rewrite !framed_parts. set (d' := frame_with _ _ _ _ _). change (frame_grid d' ps c) with (frame_grid d ps c). set (g := unit_or_0 _).
  change (frame_all d' g ps c) with (frame_all d g ps c). unfold frame_end. rewrite F1. cbn [first_rounding frame_out d' frame_with]. change (rho (with_zero_sign ?c ?z)) with (rho c).
  apply unvanished_sign; auto. intros N. destruct (frame_multiple d g m ps c K Fp Fc) as [k Hk].
  destruct (scaled_multiple k m (emin (frame_out d) - p (frame_out d)) G) as [j Hj]. apply never_zero with j; auto. now rewrite Hk.
Qed.

Lemma frame_same d : frame_with d (frame_zero d) (drops_c d) (first_rounding d) (frame_out d) = d.
Proof. now destruct d. Qed.

(** * Results that are never subnormal *)

(** What a rounding to nearest makes the least normal number, or more. *)
Definition least_rounded (c : conversion) : R := (bp (emin c) - bp (emin c - p c - 2))%R.

Definition kept_results (c : conversion) : conversion :=
  {| rho := rho c; p := p c; emin := emin c; emax := emax c; overflow := overflow c; flushes := false; tiny := false; zsign := Positive |}.

Definition to_nearest (m : mode) : bool := match m with RNE | RNA => true | _ => false end.

Lemma near_power m k x : to_nearest m = true -> 1 <= k -> (IZR (2 ^ k) - / 2 <= x)%R -> 2 ^ k <= rnd m x.
Proof.
  intros M K X. assert (Pw : 2 ^ k = 2 * 2 ^ (k - 1)) by (rewrite <- Z.pow_succ_r by lia; f_equal; lia).
  pose proof (pow2_pos (k - 1) ltac:(lia)) as Po. set (n := 2 ^ k) in *.
  assert (Fl : Zfloor (IZR n - / 2) = n - 1) by (apply Zfloor_imp; rewrite plus_IZR, minus_IZR; lra).
  assert (Ce : Zceil (IZR n - / 2) = n) by (apply Zceil_imp; rewrite minus_IZR; lra).
  assert (H : rnd m (IZR n - / 2) = n).
  { destruct m; try easy; cbn [rnd]; unfold Znearest; rewrite Fl, Ce, minus_IZR; (rewrite Rcompare_Eq by lra).
    - replace (Z.even (n - 1)) with false; [reflexivity|]. symmetry. rewrite Pw. replace (2 * 2 ^ (k - 1) - 1) with (1 + 2 * (2 ^ (k - 1) - 1)) by lia. now rewrite Z.even_add_mul_2.
    - rewrite (proj2 (Z.leb_le 0 (n - 1))) by lia. reflexivity. }
  rewrite <- H at 1. now apply Zrnd_le; auto with typeclass_instances.
Qed.

Lemma near_log m n e k : to_nearest m = true -> 1 <= k -> (IZR (2 ^ k) - / 2 <= IZR (Z.abs n) * bp (- e))%R -> k <= Z.log2 (Z.abs (round_div m n e)).
Proof.
  intros M K X. assert (S : symmetric m = true) by now destruct m.
  assert (A : Z.abs (round_div m n e) = Z.abs (round_div m (Z.abs n) e)) by (destruct (Z.abs_spec n) as [[_ ->]|[_ ->]]; auto; rewrite round_div_opp, Z.abs_opp by exact S; auto).
  rewrite A, <- (Z.log2_pow2 k) by lia. apply Z.log2_le_mono. rewrite round_div_ok. pose proof (near_power m k _ M K X). lia.
Qed.

Lemma never_tiny c s n u : to_nearest (rho c) = true -> 1 <= p c -> unseen_sign c = true -> n = 0 \/ (least_rounded c <= Rabs (IZR n * bp u))%R ->
  convert (kept_results c) s n u = convert c s n u.
Proof.
  intros M P U H. unfold convert. change (last_bit (kept_results c)) with (last_bit c). change (is_infinite (kept_results c)) with (is_infinite c).
  cbn [rho p emin emax overflow flushes tiny zsign kept_results andb]. set (ex := last_bit c n u). set (r := round_div (rho c) n (ex - u)).
  destruct (Z.eq_dec n 0) as [Z|Z].
  { unfold r. rewrite Z, round_div_0. cbn [Z.eqb orb negb andb]. unfold unseen_sign in U. now destruct (zsign c). }
  destruct H as [H|H]; [easy|]. rewrite Rabs_mult, (Rabs_pos_eq (bp u)), <- abs_IZR in H by apply bpow_ge_0.
  set (l := Z.log2 (Z.abs n)). assert (Ln : 2 ^ l <= Z.abs n < 2 ^ (l + 1)) by (unfold l; rewrite Z.add_1_r; apply Z.log2_spec; lia). pose proof (Z.log2_nonneg (Z.abs n)) as L0. fold l in L0.
  assert (Lr : (bp l <= IZR (Z.abs n) < bp (l + 1))%R) by (rewrite !bp_Z by lia; split; [now apply IZR_le|now apply IZR_lt]).
  assert (Lo : emin c - 1 <= l + u).
  { assert (Q : (bp (emin c - 1) < bp (l + u + 1))%R).
    { eapply Rle_lt_trans; [|replace (l + u + 1) with (l + 1 + u) by lia; rewrite bpow_plus; apply Rmult_lt_compat_r; [apply bpow_gt_0|apply Lr]]. eapply Rle_trans; [|exact H]. unfold least_rounded.
      assert (T : bp (emin c) = (2 * bp (emin c - 1))%R) by (replace (emin c) with (1 + (emin c - 1)) at 1 by lia; rewrite bpow_plus; reflexivity).
      assert (B : (bp (emin c - p c - 2) <= bp (emin c - 1))%R) by (apply bpow_le; lia). lra. }
    apply lt_bpow in Q. lia. }
  assert (Sc : forall e, (IZR (Z.abs n) * bp (- (e - u)) = IZR (Z.abs n) * bp u * bp (- e))%R) by (intros; rewrite Rmult_assoc, <- bpow_plus; do 2 f_equal; lia).
  assert (Ge : emin c <= l + u -> forall e, e <= l + u - 1 -> l + u - e <= Z.log2 (Z.abs (round_div (rho c) n (e - u)))).
  { intros G e E. apply near_log; auto; [lia|]. rewrite <- bp_Z by lia. replace (- (e - u)) with (- l + (l + u - e)) by lia. rewrite bpow_plus.
    assert (Q : (1 <= IZR (Z.abs n) * bp (- l))%R) by (apply Rmult_le_reg_r with (bp l); [apply bpow_gt_0|]; rewrite Rmult_assoc, <- bpow_plus; replace (- l + l) with 0 by lia; cbn [bpow]; lra).
    pose proof (bpow_gt_0 radix2 (l + u - e)). rewrite <- Rmult_assoc. nra. }
  assert (Lt : l + u = emin c - 1 -> forall k, 0 <= k <= p c + 1 -> 1 <= k -> k <= Z.log2 (Z.abs (round_div (rho c) n (emin c - k - u)))).
  { intros G k Hk K1. apply near_log; auto. rewrite Sc. eapply Rle_trans; [|apply Rmult_le_compat_r; [apply bpow_ge_0|exact H]]. unfold least_rounded.
    rewrite Rmult_minus_distr_r, <- !bpow_plus. replace (emin c + - (emin c - k)) with k by lia. rewrite (bp_Z k) by lia.
    assert (B : (bp (emin c - p c - 2 + - (emin c - k)) <= bp (-1))%R) by (apply bpow_le; lia). change (bp (-1)) with (/ 2)%R in B. lra. }
  assert (Own : emin c <= Z.log2 (Z.abs r) + ex).
  { unfold r, ex, last_bit. destruct (Z.eqb_spec n 0); [easy|]. fold l. destruct (Z_le_gt_dec (emin c) (l + u)) as [G|G].
    - rewrite Z.max_l by lia. specialize (Ge G (l + u - p c) ltac:(lia)). lia.
    - rewrite Z.max_r by lia. specialize (Lt ltac:(lia) (p c) ltac:(lia) P). lia. }
  assert (Ti : is_tiny c n u = false).
  { unfold is_tiny. fold l. apply Z.ltb_ge. destruct (Z_le_gt_dec (emin c) (l + u)) as [G|G].
    - specialize (Ge G (l + u - p c) ltac:(lia)). lia.
    - specialize (Lt ltac:(lia) (p c + 1) ltac:(lia) ltac:(lia)). replace (l + u - p c) with (emin c - (p c + 1)) by lia. lia. }
  rewrite (proj2 (Z.ltb_ge _ _) Own), Ti, andb_false_r. cbn [orb]. rewrite andb_false_r, !orb_false_r.
  destruct (Z.eqb_spec r 0) as [R|R]; [|reflexivity]. exfalso. rewrite R in Own. cbn in Own.
  unfold r, ex, last_bit in R, Own. destruct (Z.eqb_spec n 0); [easy|]. fold l in R, Own. destruct (Z_le_gt_dec (emin c) (l + u)) as [G|G].
  - specialize (Ge G (l + u - p c) ltac:(lia)). rewrite Z.max_l in R by lia. rewrite R in Ge. cbn in Ge. lia.
  - specialize (Lt ltac:(lia) (p c) ltac:(lia) P). rewrite Z.max_r in R by lia. rewrite R in Lt. cbn in Lt. lia.
Qed.

(** Of a c that is zero or has a leading 1: beside products that are not zero the unit is no less than the least normal number, and
    beside zeros c loses a unit for each at most. *)
Lemma frame_untiny d n ps c : let o := frame_out d in let g := unit_or_0 (frame_grid d ps c) in
  group_size d = None -> frame_mode d = RZ -> frame_zero d = ZeroNone -> (length ps <= n)%nat -> 1 <= p o -> p o + 2 <= Design.c_bits d -> Z.of_nat n <= 2 ^ (Design.c_bits d - p o - 2) ->
  (forall x, In x ps -> is_zero x = false -> emin o <= exp x - frame_bits d) ->
  (is_zero c = true \/ emin o <= exp c /\ (bp (exp c) <= Rabs (V c))%R /\ exp c - Design.c_bits d <= lsb c) ->
  zsum (frame_all d g ps c) = 0 \/ (least_rounded o <= Rabs (IZR (zsum (frame_all d g ps c)) * bp g))%R.
Proof.
  intros o g Gs M Zn Ln P Cb Nb Lp Nc. set (e := Design.c_bits d) in *.
  assert (D0 : with_frame_zero d ZeroNone = d) by (rewrite <- Zn; apply frame_same).
  assert (Lg : forall x b, In (x, b) ((c, e) :: map (fun x => (x, frame_bits d)) ps) -> is_zero x = false -> exp x - b <= g).
  { intros x b H Zx. pose proof (live_grid d ps c (frame_grid d ps c) x b H Zx) as L. rewrite D0 in L. specialize (L eq_refl). unfold g. destruct (frame_grid d ps c); cbn in *; [exact L|easy]. }
  unfold frame_all. destruct (forallb is_zero (ps ++ [c])) eqn:A; [now left|]. set (k := zsum _).
  destruct (forallb is_zero ps) eqn:Zp.
  - assert (Zc : is_zero c = false) by (rewrite forallb_app, Zp in A; cbn [forallb] in A; now rewrite andb_true_r in A).
    destruct Nc as [Nc|[Ec [Vc Lc]]]; [congruence|]. right.
    assert (G : g = exp c - e).
    { unfold g, frame_grid, omax_list. cbn [fold_right]. assert (Q : fold_right omax None (map (grid_of d (frame_bits d) (negb (grouped d))) ps) = None).
      { clear -Zp Zn. induction ps as [|x l IH]; [reflexivity|]. cbn [forallb map fold_right] in *. apply andb_prop in Zp. destruct Zp as [Zx Zl]. rewrite IH by exact Zl.
        unfold grid_of. rewrite Zx, Zn. cbn [negb]. now destruct (grouped d). }
      rewrite Q. unfold grid_of. rewrite Zc. reflexivity. }
    set (a := zsum (frame_counts d g ps c)).
    assert (Ba : Z.abs a <= Z.of_nat n).
    { unfold a, frame_counts. rewrite Gs. change (map _ ps) with (map (one_count d g c) ps). assert (Q : Z.abs (zsum (map (one_count d g c) ps)) <= Z.of_nat (length ps)); [|lia].
      clearbody g. clear -Zp. induction ps as [|x l IH]; [cbn; lia|]. cbn [forallb] in Zp. apply andb_prop in Zp. destruct Zp as [Zx Zl]. specialize (IH Zl). unfold zsum in *. cbn [map fold_right length].
      assert (Z.abs (one_count d g c x) <= 1) by (unfold one_count; rewrite cut_zero by exact Zx; destruct (_ && _); [destruct (neg c)|]; lia). lia. }
    set (b := if drops_c d && _ && _ then 0 else cut (frame_mode d) g c) in *.
    assert (Vb : (IZR b * bp g = V c)%R).
    { assert (Cx : (IZR (cut RZ g c) * bp g = V c)%R) by (rewrite cut_ok; apply fix_rnd_multiple, multiple_lsb; lia). unfold b.
      destruct (drops_c d && _ && _) eqn:Q; [apply andb_prop in Q; destruct Q as [_ Q]; apply Z.eqb_eq in Q; now rewrite Q in Cx|now rewrite M]. }
    assert (K : k = a + b) by (unfold k, a; rewrite zsum_app; cbn; lia).
    rewrite K, plus_IZR, Rmult_plus_distr_r, Vb.
    assert (Ha : (Rabs (IZR a * bp g) <= bp (exp c - p o - 2))%R).
    { rewrite Rabs_mult, (Rabs_pos_eq (bp g)), <- abs_IZR by apply bpow_ge_0. replace (exp c - p o - 2) with (e - p o - 2 + g) by lia. rewrite bpow_plus, (bp_Z (e - p o - 2)) by lia.
      apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. lia. }
    assert (T : (Rabs (V c) - Rabs (IZR a * bp g) <= Rabs (IZR a * bp g + V c))%R).
    { pose proof (Rabs_triang (IZR a * bp g + V c) (- (IZR a * bp g))) as Q. rewrite Rabs_Ropp in Q. replace (IZR a * bp g + V c + - (IZR a * bp g))%R with (V c) in Q by ring. lra. }
    assert (F : forall x, (bp x - bp (x - p o - 2) = bp x * (1 - bp (- p o - 2)))%R) by (intros x; replace (x - p o - 2) with (x + (- p o - 2)) by lia; rewrite bpow_plus; ring).
    unfold least_rounded. rewrite F. pose proof (F (exp c)) as Fc. assert (Sm : (bp (- p o - 2) <= 1)%R) by (change 1%R with (bp 0); apply bpow_le; lia).
    assert (Q : (bp (emin o) <= bp (exp c))%R) by (apply bpow_le; lia). pose proof (Rmult_le_compat_r (1 - bp (- p o - 2)) _ _ ltac:(lra) Q) as Q2. lra.
  - destruct (Z.eq_dec k 0) as [K|K]; [now left|]. right.
    assert (X : exists x, In x ps /\ is_zero x = false).
    { clear -Zp. induction ps as [|x l IH]; [easy|]. cbn [forallb] in Zp. destruct (is_zero x) eqn:Zx; [destruct (IH Zp) as [y [H1 H2]]; exists y; split; [now right|auto]|exists x; split; [now left|auto]]. }
    destruct X as [x [Hx Zx]]. pose proof (Lg x (frame_bits d) ltac:(right; apply in_map_iff; eauto) Zx) as G. specialize (Lp x Hx Zx).
    rewrite Rabs_mult, (Rabs_pos_eq (bp g)), <- abs_IZR by apply bpow_ge_0. assert (B : (bp (emin o) <= bp g)%R) by (apply bpow_le; lia).
    assert (O1 : (1 <= IZR (Z.abs k))%R) by (apply IZR_le; lia). pose proof (bpow_gt_0 radix2 (emin o - p o - 2)). pose proof (bpow_gt_0 radix2 g). unfold least_rounded. nra.
Qed.

Definition untiny (flushed : bool) (tb cb : bounds) (n : nat) (d : frame) : bool :=
  let o := frame_out d in
  flushed && none (first_rounding d) && none (group_size d) && match frame_mode d, frame_zero d with RZ, ZeroNone => true | _, _ => false end && to_nearest (rho o) && (1 <=? p o) &&
  unseen_sign o && (p o + 2 <=? Design.c_bits d) && (Z.of_nat n <=? 2 ^ (Design.c_bits d - p o - 2)) && (emin o <=? lowest tb - frame_bits d) && (emin o <=? lowest cb) &&
  (width cb <=? Design.c_bits d).

Lemma untiny_ok flushed tb cb n d ps c : untiny flushed tb cb n d = true -> (flushed = true -> is_zero c = true \/ (bp (exp c) <= Rabs (V c))%R) -> (length ps <= n)%nat ->
  (forall x, In x ps -> lowest tb <= exp x) -> lowest cb <= exp c -> frac c <= width cb ->
  framed_sum (frame_with d (frame_zero d) (drops_c d) None (kept_results (frame_out d))) ps c = framed_sum d ps c.
Proof.
  unfold untiny. cbv zeta. intros O Fl Ln Lp Lc Wc. repeat rewrite andb_true_iff in O. destruct O as [[[[[[[[[[[Fd F1] Gs] M] Nr] P] U] Cb] Nb] Ep] Ec] Wb].
  apply Z.leb_le in P, Cb, Nb, Ep, Ec, Wb. assert (First : first_rounding d = None) by now destruct (first_rounding d). assert (Gs' : group_size d = None) by now destruct (group_size d).
  destruct (frame_mode d) eqn:Md; try easy. destruct (frame_zero d) eqn:Zd; try easy. rewrite !framed_parts. set (d' := frame_with _ _ _ _ _).
  assert (G : frame_grid d' ps c = frame_grid d ps c) by (unfold d', frame_grid, grid_of; cbn [frame_zero frame_with]; now rewrite Zd). rewrite G. set (g := unit_or_0 _).
  assert (A : frame_all d' g ps c = frame_all d g ps c) by reflexivity. rewrite A. unfold frame_end. rewrite First. cbn [first_rounding frame_out d' frame_with].
  change (rho (kept_results (frame_out d))) with (rho (frame_out d)). apply never_tiny; auto. apply (frame_untiny d n ps c); auto; [intros x Hx _; specialize (Lp x Hx); lia|].
  destruct (Fl Fd) as [Zc|Vc]; [now left|right]. split; [lia|]. split; [exact Vc|unfold lsb; lia].
Qed.

(** * Parameters of one sum in c's frame *)

Definition frame_eq (a b : frame) : {a = b} + {a <> b}.
Proof. repeat decide equality. Defined.

(** The unit that a zero asks for, at most. *)
Definition zero_unit (b : bounds) (bits : Z) (d : frame) : Z := match frame_zero d with ZeroAt e => e - frame_bits d | _ => low_upto b - bits end.
Definition least_grid (tb cb : bounds) (d : frame) : Z := Z.min (lowest tb - frame_bits d) (lowest cb - Design.c_bits d).
Definition least_multiple (tb cb : bounds) : Z := Z.min (grid tb) (grid cb).

(** A bound of all that is as small as what zeros ask for, in units of [2^(top - k)]. *)
Definition small_most (tb cb : bounds) (n : nat) (d : frame) (top k : Z) : Z :=
  let of (b : bounds) (bits : Z) := if lowest b - bits <=? top then fst (shape_of b) * 2 ^ (bits + k - snd (shape_of b)) else 0 in
  Z.of_nat n * (of tb (frame_bits d) + 2 ^ k) + of cb (Design.c_bits d).
Definition small_flushed (tb cb : bounds) (n : nat) (d : frame) (top : Z) : bool :=
  let o := first_of d in let k := Z.max 0 (Z.max (snd (shape_of tb) - frame_bits d) (snd (shape_of cb) - Design.c_bits d)) in
  negb (grouped d) && match frame_mode d with RZ => true | _ => false end && (1 <=? p o) && flushes o && match zsign o with Positive => true | _ => false end &&
  shapes_ok [tb; cb] && (small_most tb cb n d top k <=? 2 ^ (emin o - 1 - (top - k))) && (0 <=? emin o - 1 - (top - k)).

(** Zeros are below all others, or nothing is cut off beside them, or what is as small is flushed: beside a c that is zero, and
    beside another, which in groups are the only ones that count. *)
Definition frame_zero_idle (tb cb : bounds) (n : nat) (d : frame) : bool :=
  let low := lowest tb - frame_bits d in let of_c := zero_unit cb (Design.c_bits d) d in let of_products := zero_unit tb (frame_bits d) d in
  let top := if grouped d then of_c else Z.max of_c of_products in
  let whole := negb (complement d) in
  ((top <=? low) || whole && (top <=? grid tb) || small_flushed tb cb n d top) &&
  (grouped d || (of_products <=? least_grid tb cb d) || whole && (of_products <=? least_multiple tb cb) || small_flushed tb cb n d of_products).

(** In groups, zeros of one exponent. *)
Definition own_zero_at (cb : bounds) (d : frame) (e : Z) : bool :=
  match frame_zero d with ZeroOwn => grouped d && (lowest cb =? low_upto cb) && (e - frame_bits d =? lowest cb - Design.c_bits d) | _ => false end.

Definition plainer_frame (flushed : bool) (tb cb : bounds) (n : nat) (d d' : frame) : frame :=
  let d1 := match frame_mode d with RZ => frame_with d (frame_zero d) (drops_c d && drops_c d') (first_rounding d) (frame_out d) | _ => d end in
  let d2 := match frame_zero d' with
            | ZeroNone => if frame_zero_idle tb cb n d1 then with_frame_zero d1 ZeroNone else d1
            | ZeroAt e => if own_zero_at cb d1 e then with_frame_zero d1 (ZeroAt e) else d1
            | ZeroOwn => d1
            end in
  let positive := match zsign (frame_out d') with Positive => true | _ => false end in
  let d3 := if positive && negb (flushes (frame_out d')) && untiny flushed tb cb n d2
            then frame_with d2 (frame_zero d2) (drops_c d2) None (kept_results (frame_out d2))
            else if positive && vanish_sign (least_multiple tb cb) d2
            then frame_with d2 (frame_zero d2) (drops_c d2) None (with_zero_sign (frame_out d2) Positive) else d2 in
  match overflow (frame_out d') with
  | Infinite => frame_with d3 (frame_zero d3) (drops_c d3) (option_map plain_overflow (first_rounding d3)) (plain_last (first_rounding d3) (frame_out d3))
  | _ => d3
  end.

Lemma small_ok tb cb n d ps c m low top : small_flushed tb cb n d top = true -> (length ps <= n)%nat ->
  Forall (frame_known m low (frame_bits d)) ps -> frame_known m low (Design.c_bits d) c ->
  (forall x g, In x ps -> is_zero x = true -> grid_of d (frame_bits d) (negb (grouped d)) x = Some g -> g <= top) ->
  (forall g, is_zero c = true -> grid_of d (Design.c_bits d) true c = Some g -> g <= top) ->
  (forall x, In x ps -> lowest tb <= exp x) -> Forall (fun x => fits' (shape_of tb) x) ps -> lowest cb <= exp c -> fits' (shape_of cb) c ->
  framed_sum d ps c = framed_sum (with_frame_zero d ZeroNone) ps c.
Proof.
  unfold small_flushed. cbv zeta. set (k := Z.max 0 _). intros O Ln Kp Kc Tp Tc Lp Fp Lc Fc. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[G M] P] F] Zs] Sh] Sm] E0]. apply Z.leb_le in P, Sm, E0. apply negb_true_iff in G.
  assert (Gs : group_size d = None) by (unfold grouped in G; now destruct (group_size d)). assert (Mr : frame_mode d = RZ) by now destruct (frame_mode d).
  assert (Zr : zsign (first_of d) = Positive) by now destruct (zsign (first_of d)).
  unfold shapes_ok in Sh. cbn [forallb] in Sh. repeat rewrite andb_true_iff in Sh. destruct Sh as [S1 [S2 _]]. apply Z.leb_le in S1, S2.
  apply (zeros_flushed d ps c top); auto. intros Gp Gc.
  set (e := emin (first_of d) - 1) in *.
  assert (One : forall b bits x, 0 <= fst (shape_of b) -> snd (shape_of b) - bits <= k -> lowest b <= exp x -> fits' (shape_of b) x -> (is_zero x = false -> exp x - bits <= top) ->
    (Rabs (V x) <= IZR (if (lowest b - bits <=? top)%Z then fst (shape_of b) * 2 ^ (bits + k - snd (shape_of b)) else 0) * bp (top - k))%R).
  { intros b bits x S Sk L [F1 F2] Gx. destruct (is_zero x) eqn:Zx.
    - rewrite (V_zero x Zx), Rabs_R0. apply Rmult_le_pos; [|apply bpow_ge_0]. apply IZR_le. destruct (_ <=? _); [|lia]. apply Z.mul_nonneg_nonneg; auto. apply Z.pow_nonneg. lia.
    - specialize (Gx eq_refl). rewrite (proj2 (Z.leb_le _ _)) by lia. rewrite mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia.
      replace (bits + k - snd (shape_of b) + (top - k)) with (- snd (shape_of b) + (bits + top)) by lia. unfold V, lsb.
      assert (A : Rabs (IZR (signed x)) = IZR (sig x)) by (rewrite <- abs_IZR; f_equal; unfold signed; destruct (neg x); lia).
      rewrite Rabs_mult, A, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. replace (exp x - frac x) with (- frac x + exp x) by lia.
      rewrite (bpow_plus radix2 (- frac x)), (bpow_plus radix2 (- snd (shape_of b))), <- !Rmult_assoc.
      apply Rmult_le_compat; [|apply bpow_ge_0|exact F2|apply bpow_le; lia]. apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]. }
  set (a := if (lowest tb - frame_bits d <=? top) then fst (shape_of tb) * 2 ^ (frame_bits d + k - snd (shape_of tb)) else 0) in *.
  assert (A0 : 0 <= a) by (unfold a; destruct (_ <=? _); [|lia]; apply Z.mul_nonneg_nonneg; auto; apply Z.pow_nonneg; lia).
  assert (Mp : (Integers.magnitude ps + INR (length ps) * bp top <= IZR (Z.of_nat (length ps) * (a + 2 ^ k)) * bp (top - k))%R).
  { assert (T : bp top = (IZR (2 ^ k) * bp (top - k))%R) by (rewrite <- bp_Z, <- bpow_plus by lia; f_equal; lia).
    assert (H : forall x, In x ps -> (Rabs (V x) <= IZR a * bp (top - k))%R).
    { intros x Hx. apply (One tb (frame_bits d)); auto; [lia|]. rewrite Forall_forall in Fp. auto. }
    clear -H T. induction ps as [|x l IH]; [cbn; lra|]. specialize (IH ltac:(intros; apply H; now right)). specialize (H x (or_introl eq_refl)).
    unfold Integers.magnitude, Rsum in *. cbn [map fold_right length]. rewrite S_INR, Nat2Z.inj_succ. unfold Z.succ. rewrite Z.mul_add_distr_r, plus_IZR, Z.mul_1_l, Rmult_plus_distr_r.
    rewrite T in *. rewrite (plus_IZR a). lra. }
  pose proof (One cb (Design.c_bits d) c S2 ltac:(lia) Lc Fc Gc) as Mc. rewrite magnitude_app. unfold Integers.magnitude at 2. cbn [map Rsum fold_right]. rewrite Rplus_0_r.
  set (b := if (lowest cb - Design.c_bits d <=? top) then _ else 0) in *.
  assert (Q : (IZR (Z.of_nat n * (a + 2 ^ k) + b) * bp (top - k) <= bp e)%R).
  { replace (bp e) with (IZR (2 ^ (e - (top - k))) * bp (top - k))%R by (rewrite <- bp_Z, <- bpow_plus by lia; f_equal; lia).
    apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply IZR_le. exact Sm. }
  assert (Q2 : (IZR (Z.of_nat (length ps) * (a + 2 ^ k)) <= IZR (Z.of_nat n * (a + 2 ^ k)))%R).
  { apply IZR_le. apply Z.mul_le_mono_nonneg_r; [|lia]. pose proof (Z.pow_nonneg 2 k). lia. }
  rewrite plus_IZR, Rmult_plus_distr_r in Q. pose proof (Rmult_le_compat_r (bp (top - k)) _ _ (bpow_ge_0 radix2 _) Q2). lra.
Qed.

Lemma plainer_frame_ok flushed tb cb n d d' ps c : (length ps <= n)%nat -> Forall (inside tb) (map Num ps) -> inside cb (Num c) ->
  (flushed = true -> is_zero c = true \/ (bp (exp c) <= Rabs (V c))%R) ->
  framed_sum (plainer_frame flushed tb cb n d d') ps c = framed_sum d ps c.
Proof.
  intros Ln Fp Fc Fl. destruct (Fc c eq_refl) as [Sc [Lc [Mc [Uc Wc]]]].
  assert (Ip : forall x, In x ps -> lowest tb <= exp x /\ multiple (grid tb) x /\ under tb x).
  { intros x Hx. rewrite Forall_forall in Fp. destruct (Fp (Num x) ltac:(now apply in_map) x eq_refl) as [_ [L [M [U _]]]]. auto. }
  assert (Mp : Forall (multiple (least_multiple tb cb)) ps).
  { apply Forall_forall. intros x Hx. apply multiple_le with (grid tb); [unfold least_multiple; lia|]. now apply Ip. }
  assert (Mc' : multiple (least_multiple tb cb) c) by (apply multiple_le with (grid cb); auto; unfold least_multiple; lia).
  unfold plainer_frame. cbv zeta. set (d1 := match frame_mode d with RZ => _ | _ => d end).
  assert (E1 : framed_sum d1 ps c = framed_sum d ps c).
  { unfold d1. destruct (frame_mode d) eqn:M; auto. rewrite <- (frame_same d) at 2. destruct (drops_c d'); [now rewrite andb_true_r|]. rewrite andb_false_r. now apply dropped_idle. }
  clearbody d1. set (d2 := match frame_zero d' with ZeroNone => _ | ZeroAt e => _ | ZeroOwn => d1 end).
  assert (E2 : framed_sum d2 ps c = framed_sum d1 ps c).
  { unfold d2. destruct (frame_zero d') as [| |e] eqn:Z'; auto.
    - destruct (frame_zero_idle tb cb n d1) eqn:O; auto. symmetry. unfold frame_zero_idle in O. cbv zeta in O. apply andb_prop in O. destruct O as [O1 O2].
      assert (Sp : Forall (fun x => fits' (shape_of tb) x) ps).
      { apply Forall_forall. intros x Hx. rewrite Forall_forall in Fp. now destruct (Fp (Num x) ltac:(now apply in_map) x eq_refl). }
      assert (Up : forall x g, In x ps -> is_zero x = true -> grid_of d1 (frame_bits d1) (negb (grouped d1)) x = Some g -> grouped d1 = false /\ g <= zero_unit tb (frame_bits d1) d1).
      { intros x g Hx Zx G. destruct (Ip x Hx) as [_ [_ U]]. unfold under in U. rewrite (zero_low x Zx) in U. unfold grid_of in G. rewrite Zx in G. cbn [negb] in G.
        unfold zero_unit. destruct (grouped d1); cbn [negb] in G; [easy|]. split; [reflexivity|]. destruct (frame_zero d1); try easy; injection G as <-; lia. }
      assert (Uz : forall g, is_zero c = true -> grid_of d1 (Design.c_bits d1) true c = Some g -> g <= zero_unit cb (Design.c_bits d1) d1).
      { intros g Zc G. unfold under in Uc. rewrite (zero_low c Zc) in Uc. unfold grid_of in G. rewrite Zc in G. cbn [negb] in G.
        unfold zero_unit. destruct (frame_zero d1); try easy; injection G as <-; lia. }
      assert (Kp : forall m low, m <= grid tb -> low <= lowest tb - frame_bits d1 -> Forall (frame_known m low (frame_bits d1)) ps).
      { intros m low Hm Hl. apply Forall_forall. intros x Hx. destruct (Ip x Hx) as [L [G _]]. split; [now apply multiple_le with (grid tb)|lia]. }
      destruct (is_zero c) eqn:Zc.
      + clear O2. set (top := if grouped d1 then _ else _) in O1.
        assert (Kc : forall m low, frame_known m low (Design.c_bits d1) c) by (intros; split; [now apply multiple_zero|congruence]).
        assert (Tp : forall x g, In x ps -> is_zero x = true -> grid_of d1 (frame_bits d1) (negb (grouped d1)) x = Some g -> g <= top)
          by (intros x g Hx Zx G; destruct (Up x g Hx Zx G) as [E U]; unfold top; rewrite E; lia).
        assert (Tc : forall g, is_zero c = true -> grid_of d1 (Design.c_bits d1) true c = Some g -> g <= top)
          by (intros g Zx G; specialize (Uz g eq_refl G); unfold top; destruct (grouped d1); lia).
        apply orb_prop in O1. destruct O1 as [O1|O1]; [apply orb_prop in O1; destruct O1 as [O1|O1]|].
        * apply Z.leb_le in O1. apply (zeros_below d1 ps c (grid tb) (lowest tb - frame_bits d1) top); auto; try apply Kp; lia.
        * apply andb_prop in O1. destruct O1 as [K O1]. apply negb_true_iff in K. apply Z.leb_le in O1.
          apply (zeros_cut d1 ps c (grid tb) (lowest tb - frame_bits d1) top); auto; try apply Kp; lia.
        * apply (small_ok tb cb n d1 ps c (grid tb) (lowest tb - frame_bits d1) top); auto; try (apply Kp; lia). intros x Hx. now apply Ip.
      + clear O1. set (top := zero_unit tb (frame_bits d1) d1) in O2.
        assert (Kc : forall m low, m <= grid cb -> low <= lowest cb - Design.c_bits d1 -> frame_known m low (Design.c_bits d1) c)
          by (intros; split; [now apply multiple_le with (grid cb)|lia]).
        assert (Tp : forall x g, In x ps -> is_zero x = true -> grid_of d1 (frame_bits d1) (negb (grouped d1)) x = Some g -> g <= top) by (intros x g Hx Zx G; now apply (Up x g Hx Zx G)).
        assert (Tc : forall t g, is_zero c = true -> grid_of d1 (Design.c_bits d1) true c = Some g -> g <= t) by (intros; congruence).
        apply orb_prop in O2. destruct O2 as [O2|O2]; [apply orb_prop in O2; destruct O2 as [O2|O2]; [apply orb_prop in O2; destruct O2 as [O2|O2]|]|].
        * apply (zeros_below d1 ps c (least_multiple tb cb) (least_grid tb cb d1) (least_grid tb cb d1)); auto; try (apply Kp; unfold least_multiple, least_grid; lia);
            try (apply Kc; unfold least_multiple, least_grid; lia); try exact (Tc _); try lia. intros x g Hx Zx G. destruct (Up x g Hx Zx G). congruence.
        * apply Z.leb_le in O2. apply (zeros_below d1 ps c (least_multiple tb cb) (least_grid tb cb d1) top); auto; try (apply Kp; unfold least_multiple, least_grid; lia);
            try (apply Kc; unfold least_multiple, least_grid; lia); try exact (Tc _).
        * apply andb_prop in O2. destruct O2 as [K O2]. apply negb_true_iff in K. apply Z.leb_le in O2.
          apply (zeros_cut d1 ps c (least_multiple tb cb) (least_grid tb cb d1) top); auto; try (apply Kp; unfold least_multiple, least_grid; lia);
            try (apply Kc; unfold least_multiple, least_grid; lia); try exact (Tc _).
        * apply (small_ok tb cb n d1 ps c (least_multiple tb cb) (least_grid tb cb d1) top); auto; try (apply Kp; unfold least_multiple, least_grid; lia);
            try (apply Kc; unfold least_multiple, least_grid; lia); try exact (Tc _). intros x Hx. now apply Ip.
    - destruct (own_zero_at cb d1 e) eqn:O; auto. unfold own_zero_at in O. destruct (frame_zero d1) eqn:Zd; try easy. repeat rewrite andb_true_iff in O.
      destruct O as [[Gr Lo] Ee]. apply Z.eqb_eq in Lo, Ee. rewrite !framed_parts. set (d4 := with_frame_zero d1 (ZeroAt e)).
      assert (G : frame_grid d4 ps c = frame_grid d1 ps c); [|rewrite G; reflexivity].
      unfold frame_grid. change (grouped d4) with (grouped d1). rewrite Gr. f_equal. f_equal.
      unfold grid_of. cbn [frame_zero frame_bits d4 frame_with]. rewrite Zd. destruct (is_zero c) eqn:Zc; auto. cbn [negb]. f_equal.
      unfold under in Uc. rewrite (zero_low c Zc) in Uc. lia. }
  clearbody d2. set (positive := match zsign (frame_out d') with Positive => true | _ => false end). set (d3 := if positive && _ && untiny _ _ _ _ d2 then _ else _).
  assert (E3 : framed_sum d3 ps c = framed_sum d2 ps c).
  { unfold d3. destruct (positive && _ && untiny _ _ _ _ d2) eqn:O.
    - apply andb_prop in O. destruct O as [_ O]. apply (untiny_ok flushed tb cb n); auto. intros x Hx. now apply Ip.
    - destruct (positive && vanish_sign _ d2) eqn:O2; auto. apply andb_prop in O2. destruct O2 as [_ O2]. eapply sign_idle; eauto. }
  clearbody d3. destruct (overflow (frame_out d')); rewrite ?plain_last_idle, ?frame_same; congruence.
Qed.

(** * Designs *)

(** The same sums, parameters at other values, or not: products of [tb], and c of [cb]. *)
Definition idle_other (flushed : bool) (tb cb : bounds) (n : nat) (how how' : summation) : bool :=
  match how, how' with
  | Framed d, Framed d' => range_ok (frame_out d) && if frame_eq d' (plainer_frame flushed tb cb n d d') then true else false
  | _, _ => false
  end.

Definition other_out (how : summation) : option conversion := match how with Framed d => Some (frame_out d) | _ => None end.

(** Whether subnormals of c count as zeros. *)
Definition flushed_c (d : design) : bool := match c_rule d with PositiveZero | SignedZero => true | _ => false end.

Lemma flushed_leading d cb v x : flushed_c d = true -> inside cb v -> flush (c_rule d) v = Num x -> is_zero x = true \/ (bp (exp x) <= Rabs (V x))%R.
Proof.
  unfold flushed_c. intros F I H. destruct v as [y| |]; try easy. destruct (I y eq_refl) as [[S _] _]. unfold flush in H. destruct (is_subnormal y) eqn:Q; cbn [negb] in H.
  - left. destruct (c_rule d); try easy; injection H as <-; reflexivity.
  - injection H as <-. unfold is_subnormal in Q. destruct (is_zero y) eqn:Z; [now left|right]. cbn [negb andb] in Q. apply Z.ltb_ge in Q. unfold is_zero in Z. apply Z.eqb_neq in Z.
    destruct (Z.log2_spec (sig y)) as [L _]; [lia|]. unfold V, lsb.
    assert (A : Rabs (IZR (signed y)) = IZR (sig y)) by (rewrite <- abs_IZR; f_equal; unfold signed; destruct (neg y); lia).
    rewrite Rabs_mult, A, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. replace (bp (exp y)) with (bp (frac y) * bp (exp y - frac y))%R by (rewrite <- bpow_plus; f_equal; lia).
    apply Rmult_le_compat_r; [apply bpow_ge_0|]. apply Rle_trans with (bp (Z.log2 (sig y))); [apply bpow_le; lia|]. rewrite bp_Z by apply Z.log2_nonneg. now apply IZR_le.
Qed.

Definition idle_other_design (d : design) (how : summation) : bool :=
  none (composed d) && (0 <? Z.of_nat (block d)) && format_ok (c_format d) && kept_or_zero (c_rule d) &&
  match cutting_of d, zero_terms (factors d) with Whole, None => true | _, _ => false end &&
  match term_bounds d, other_out (sums d) with
  | Some tb, Some o => let z := flushed_c d in idle_other z tb (format_bounds (c_format d)) (block d) (sums d) how && idle_other z tb (result_bounds o) (block d) (sums d) how
  | _, _ => false
  end.

Lemma numbers_all vs ts : numbers vs = Some ts -> vs = map Num ts.
Proof.
  unfold numbers. destruct (forallb is_num vs) eqn:A; [|easy]. intros H. injection H as <-. induction vs as [|v l IH]; [reflexivity|]. cbn [forallb map] in *.
  apply andb_prop in A. destruct A as [A B]. rewrite <- IH by exact B. now destruct v.
Qed.

(** Parameters of sums of other kinds at other values give the same word on all words. *)
Theorem idle_other_sums d how w : idle_other_design d how = true -> pairs w <> [] -> compute d w = compute (with_sums d how) w.
Proof.
  unfold idle_other_design. intros O _. repeat rewrite andb_true_iff in O. destruct O as [[[[[Co B] Of] K] Cz] O].
  assert (Co' : composed d = None) by now destruct (composed d). apply Z.ltb_lt in B.
  destruct (cutting_of d) eqn:W; try easy. destruct (zero_terms (factors d)) eqn:Zt; [easy|]. clear Cz Co.
  destruct (term_bounds d) as [tb|] eqn:T; [|easy]. destruct (other_out (sums d)) as [o|] eqn:Lo; [|easy]. apply andb_prop in O. destruct O as [G1 G2].
  assert (Kd : exists f, sums d = Framed f /\ o = frame_out f) by (destruct (sums d); try easy; injection Lo as <-; eauto). destruct Kd as [f [Sd ->]].
  rewrite Sd in G1, G2. cbn [idle_other] in G1, G2. destruct how as [| | |f'| | | | |]; try easy.
  apply andb_prop in G1, G2. destruct G1 as [R G1], G2 as [_ G2]. set (d' := with_sums d (Framed f')).
  set (C := fun v => inside (format_bounds (c_format d)) v \/ inside (result_bounds (frame_out f)) v).
  symmetry. apply (steps_alike d d' C); auto; [repeat split|lia| |left; now apply decode_inside].
  intros [v n] b Lb M Cv. cbn [fst] in Cv. pose proof (products_inside d tb b T M) as Hp.
  assert (Te : forall e, terms (with_sums d e) (ordered d b) = (block_products d b, None)) by (intros e; unfold terms; change (cutting_of (with_sums d e)) with (cutting_of d); now rewrite W).
  assert (Td : terms d (ordered d b) = (block_products d b, None)) by (unfold terms; now rewrite W).
  assert (Td' : terms d' (ordered d b) = (block_products d b, None)) by apply Te.
  assert (Ci : exists cb, idle_other (flushed_c d) tb cb (block d) (Framed f) (Framed f') = true /\ inside cb (taken_c d v) /\
    (flushed_c d = true -> forall x, taken_c d v = Num x -> is_zero x = true \/ (bp (exp x) <= Rabs (V x))%R)).
  { rewrite taken_kept by auto. cbn [idle_other]. rewrite R. destruct Cv as [Cv|Cv]; eexists; (split; [|split; [apply flush_inside; eauto|intros Fl x Hx; eapply flushed_leading; eauto]]); auto. }
  destruct Ci as [cb [I [Ic Lead]]]. cbn [idle_other] in I. rewrite R in I. cbn [andb] in I. destruct (frame_eq f' (plainer_frame (flushed_c d) tb cb (block d) f f')) as [Ef|]; [|easy].
  assert (V : forall q, block_sum (Framed q) (c_rule d) None [] (block_products d b) (taken_c d v) =
    match numbers (block_products d b ++ [taken_c d v]) with
    | Some _ => framed_sum q (map num_of (block_products d b)) (num_of (taken_c d v)) | None => special_sum (block_products d b ++ [taken_c d v]) end) by reflexivity.
  assert (S : block_sum (Framed f') (c_rule d) None [] (block_products d b) (taken_c d v) = block_sum (Framed f) (c_rule d) None [] (block_products d b) (taken_c d v)).
  { rewrite !V. destruct (numbers _) as [ts|] eqn:N; auto. apply numbers_all in N. destruct (exists_last (l := ts)) as [us [x Us]].
    { intros ->. destruct (block_products d b); easy. }
    rewrite Us, map_app in N. apply app_inj_tail in N. destruct N as [N1 N2]. cbn [map] in N2. rewrite N1 in Hp. rewrite N2 in Ic. rewrite N1, N2, map_map. cbn [num_of]. rewrite map_id.
    rewrite Ef. apply plainer_frame_ok; auto. rewrite <- (block_products_length d b), N1, map_length in Lb. exact Lb. }
  assert (Bv : block_value d' v b = block_value d v b).
  { unfold block_value, skipped. change (skips d') with (skips d). destruct (skips d && _); auto. change (ordered d' b) with (ordered d b). rewrite Td', Td.
    change (taken_c d' v) with (taken_c d v). rewrite Sd. change (sums d') with (Framed f'). exact S. }
  split.
  - apply other_step; auto; try (rewrite Sd; reflexivity); [repeat split|]. change (ordered d' b) with (ordered d b). rewrite Td', Td. apply Permutation_refl.
  - rewrite block_step_value. unfold block_value. destruct (skipped d b); [exact Cv|]. right. rewrite Td, Sd. cbn [fst snd]. intros x Hx.
    assert (H : exists s i u, convert (frame_out f) s i u = Num x).
    { cbn [block_sum] in Hx. unfold on_numbers in Hx. destruct (numbers _); [|exfalso; now apply (special_not_num _ x) in Hx]. now apply framed_converted with (1 := Hx). }
    destruct H as [s [i [u H]]]. now apply (convert_inside _ _ _ _ R x H).
Qed.

(** * The sign of a zero of sums to which c is added before they are rounded *)

(** The least exponent of a factor as it is, rounded down to a multiple of a step or not. *)
Definition stepped_least (d : design) (f : format) : Z := least f - (exponent_step (factors d) - 1).

Lemma factor_least d r f w x : format_ok f = true -> converted d = None -> kept_or_zero r = true -> normalise_factors (factors d) = false -> 1 <= exponent_step (factors d) ->
  factor (factors d) r (operand d f w) = Num x -> stepped_least d f <= exp x.
Proof.
  intros O Cv K N S. unfold factor, operand. rewrite Cv, N. set (v := if _ =? 1 then _ else _).
  assert (L : forall y, v = Num y -> stepped_least d f <= exp y).
  { intros y Hy. unfold v in Hy. destruct (decode f w) as [z| |] eqn:D; [|destruct (_ =? 1); easy|destruct (_ =? 1); easy]. destruct (decode_num _ _ _ O D) as [_ [_ [Lz _]]].
    unfold stepped_least. destruct (_ =? 1); injection Hy as <-; [lia|]. cbn [stepped exp]. pose proof (Z.mod_pos_bound (exp z + bias f) (exponent_step (factors d)) ltac:(lia)). lia. }
  intros H. destruct v as [y| |]; try easy. unfold flush in H. destruct (negb (is_subnormal y)); [injection H as <-; now apply L|].
  specialize (L y eq_refl). destruct r; try easy; injection H as <-; exact L.
Qed.

Definition positive_sign (s : sum) : sum := with_out s (with_zero_sign (out s) Positive).

Definition after_sign_free (d : design) (s : sum) : bool :=
  let q := factors d in let m := emin (out s) - p (out s) in
  none (composed d) && none (converted d) && none (scales d) && none (zero_terms q) && none (product_rounding q) && negb (normalise_factors q) && (1 <=? exponent_step q) &&
  (0 <? Z.of_nat (block d)) && format_ok (a_format d) && format_ok (b_format d) && format_ok (c_format d) && kept_or_zero (of_a q) && kept_or_zero (of_b q) && kept_or_zero (c_rule d) &&
  match cutting_of d with Whole => true | _ => false end && range_ok (out s) && negb (flushes (out s)) && match zsign (out s) with SumSign => true | _ => false end &&
  none (carry_bits s) && zero_none s && negb (normalise s) && (m <=? least (c_format d) - fbits (c_format d)) &&
  match fraction_bits s with Some f => m <=? stepped_least d (a_format d) + stepped_least d (b_format d) - f | None => false end.

Lemma plus_unvanished c n u s x : 0 <= p c -> zsign c = SumSign -> flushes c = false -> emin c - p c <= lsb x -> n = 0 \/ emin c - p c <= u ->
  plus (with_zero_sign c Positive) n u s x = plus c n u s x.
Proof.
  intros P Zs F Lx Hn. unfold plus. change (rho (with_zero_sign c Positive)) with (rho c). apply unvanished_sign; auto. intros Nz.
  set (w := Z.min u (lsb x)) in *. set (m := emin c - p c) in *.
  assert (G : exists k, (IZR (n * 2 ^ (u - w) + signed x * 2 ^ (lsb x - w)) * bp w = IZR k * bp m)%R).
  { destruct Hn as [->|Hu].
    - rewrite Z.mul_0_l, Z.add_0_l, mult_IZR, <- bp_Z, Rmult_assoc, <- bpow_plus by lia. replace (lsb x - w + w) with (lsb x) by lia. now apply scaled_multiple.
    - apply scaled_multiple. lia. }
  destruct G as [k G]. now apply never_zero with k.
Qed.

Theorem after_sign_idle d s h w : sums d = CAfter s h -> after_sign_free d s = true -> pairs w <> [] ->
  compute d w = compute (with_sums d (CAfter (positive_sign s) h)) w.
Proof.
  intros Sd O _. unfold after_sign_free in O. cbv zeta in O. set (m := emin (out s) - p (out s)) in *. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[[[[[[[[[[[[[[Co Cv] Sc] Zt] Pr] N] St] B] Oa] Ob] Oc] Ka] Kb] Kc] W] R] F] Zs] Cb] Zn] Nm] Lc] Lp].
  assert (Co' : composed d = None) by now destruct (composed d). assert (Cv' : converted d = None) by now destruct (converted d).
  assert (Sc' : scales d = None) by now destruct (scales d). assert (Zt' : zero_terms (factors d) = None) by now destruct (zero_terms (factors d)).
  assert (Pr' : product_rounding (factors d) = None) by now destruct (product_rounding (factors d)). apply negb_true_iff in N, F, Nm. apply Z.leb_le in St, Lc. apply Z.ltb_lt in B.
  destruct (cutting_of d) eqn:Wc; try easy. assert (Zs' : zsign (out s) = SumSign) by now destruct (zsign (out s)).
  assert (Cb' : carry_bits s = None) by now destruct (carry_bits s). assert (Zn' : zero_exponent s = ZeroNone) by (unfold zero_none in Zn; now destruct (zero_exponent s)).
  destruct (fraction_bits s) as [f|] eqn:Fb; [|easy]. apply Z.leb_le in Lp. unfold range_ok in R. apply andb_prop in R. destruct R as [P M]. apply Z.leb_le in P, M.
  set (d' := with_sums d _). set (C := fun v => forall x, v = Num x -> m <= lsb x).
  symmetry. apply (steps_alike d d' C); auto; [repeat split|lia| |].
  2: { intros x D. destruct (decode_num _ _ _ Oc D) as [_ [Fx [Lx _]]]. unfold lsb. lia. }
  intros [v n] b _ Mb Hv. cbn [fst] in Hv.
  assert (Te : terms d (ordered d b) = (block_products d b, None)) by (unfold terms; now rewrite Wc).
  assert (Te' : terms d' (ordered d' b) = (block_products d b, None)) by (unfold terms; change (cutting_of d') with (cutting_of d); now rewrite Wc).
  assert (Low : forall x, In (Num x) (block_products d b) -> is_zero x = false -> stepped_least d (a_format d) + stepped_least d (b_format d) <= exp x).
  { intros x Hx _. unfold block_products in Hx. apply in_map_iff in Hx. destruct Hx as [e [He Hb]]. unfold scaled_product in He. rewrite Zt', zero_as_none, Pr' in He. cbv zeta in He.
    assert (Me : scaled_by e = []).
    { rewrite Forall_forall in Mb. assert (Hm : made_by d e) by (apply Mb; unfold ordered in Hb; destruct (odd_first d); auto; now apply swapped_incl). unfold made_by in Hm. now rewrite Sc' in Hm. }
    rewrite Me in He. cbn [fold_left] in He.
    assert (Pn : forall y, product (a_of d e) (b_of d e) = Num y -> stepped_least d (a_format d) + stepped_least d (b_format d) <= exp y).
    { intros y Hy. apply product_num in Hy. destruct Hy as [a [c [Ha [Hc ->]]]]. cbn [times exp].
      pose proof (factor_least d _ _ _ a Oa Cv' Ka N St Ha). pose proof (factor_least d _ _ _ c Ob Cv' Kb N St Hc). lia. }
    destruct (product (a_of d e) (b_of d e)) as [y| |] eqn:Py; [|destruct (subtracted _ _); easy|destruct (subtracted _ _); easy].
    specialize (Pn y eq_refl). destruct (subtracted _ _); cbn [negate] in He;
      (match type of He with (if ?o then _ else _) = _ => destruct o; [easy|injection He as <-; exact Pn] end). }
  assert (Tc : forall x, taken_c d v = Num x -> m <= lsb x).
  { intros x. rewrite taken_kept by auto. unfold flush. destruct v as [y| |]; try easy. specialize (Hv y eq_refl).
    destruct (negb (is_subnormal y)); [intros H; injection H as <-; exact Hv|]. destruct (c_rule d); try easy; intros H; injection H as <-; exact Hv. }
  assert (Bv : block_value d' v b = block_value d v b).
  { unfold block_value, skipped. change (skips d') with (skips d). destruct (skips d && _); auto. rewrite Te, Te'. cbn [fst snd]. change (taken_c d' v) with (taken_c d v). rewrite Sd.
    change (sums d') with (CAfter (positive_sign s) h). change (c_rule d') with (c_rule d). cbn [block_sum]. unfold on_numbers.
    destruct (numbers (block_products d b ++ [taken_c d v])) as [us|] eqn:Nu; auto. apply numbers_all in Nu.
    assert (Wf : whole_factors d' (ordered d' b) = whole_factors d (ordered d b)) by (unfold whole_factors; change (sums d') with (CAfter (positive_sign s) h); rewrite Sd; reflexivity).
    rewrite Wf. set (ts := map num_of (block_products d b)). change (unit_of (positive_sign s) ts) with (unit_of s ts). change (counts (positive_sign s) ts) with (counts s ts).
    change (rho (out (positive_sign s))) with (rho (out s)). change (held (positive_sign s)) with (held s). cbv zeta. change (out (positive_sign s)) with (with_zero_sign (out s) Positive).
    assert (In1 : forall x, In x ts -> In (Num x) (block_products d b)).
    { intros x Hx. unfold ts in Hx. apply in_map_iff in Hx. destruct Hx as [y [<- Hy]].
      assert (Q : In y (map Num us)) by (rewrite <- Nu; apply in_app_iff; now left). apply in_map_iff in Q. destruct Q as [z [<- _]]. exact Hy. }
    assert (Cx : exists x, taken_c d v = Num x).
    { assert (Q : In (taken_c d v) (map Num us)) by (rewrite <- Nu; apply in_app_iff; right; now left). apply in_map_iff in Q. destruct Q as [z [<- _]]. now exists z. }
    destruct Cx as [x Cx]. rewrite Cx. cbn [num_of]. apply plus_unvanished; auto.
    destruct (largest s ts) as [e|] eqn:L.
    - right. fold m. unfold unit_of. rewrite Fb, L. destruct (largest_attained s ts e L) as [y [Hy Te2]]. unfold term_exponent in Te2. rewrite Zn', Nm in Te2.
      destruct (is_zero y) eqn:Zy; [easy|]. injection Te2 as <-. specialize (Low y (In1 y Hy) Zy). lia.
    - left. assert (Az : forall y, In y ts -> is_zero y = true) by (intros y Hy; now apply (largest_none s ts)).
      assert (Hz : held s 0 = 0) by (unfold held; now rewrite Cb'). destruct h.
      + assert (Q : map (fun xf : num * (num * num) => let '(x0, (a, b0)) := xf in if is_zero x0 then 0 else cut_in_halves (unit_of s ts) (neg x0) a b0) (combine ts (whole_factors d (ordered d b))) =
          map (fun _ => 0) (combine ts (whole_factors d (ordered d b)))).
        { apply map_ext_in. intros [y [a c]] Hy. apply in_combine_l in Hy. now rewrite Az. }
        rewrite Q, zsum_zeros. exact Hz.
      + unfold counts. rewrite zeros_count, zsum_zeros by (apply forallb_forall; exact Az). exact Hz. }
  split.
  - apply other_step; auto; try (rewrite Sd; reflexivity); [repeat split|]. rewrite Te, Te'. apply Permutation_refl.
  - rewrite block_step_value. unfold block_value. destruct (skipped d b); [exact Hv|]. rewrite Sd. cbn [block_sum]. intros x Hx. unfold on_numbers in Hx.
    destruct (numbers _); [|exfalso; now apply (special_not_num _ x) in Hx]. cbv zeta in Hx. unfold plus in Hx. eapply convert_grid in Hx; [unfold lsb in *; lia|]. unfold range_ok. now rewrite (proj2 (Z.leb_le _ _) P), (proj2 (Z.leb_le _ _) M).
Qed.

(** * A c without a leading 1 *)

Definition zero_like (x : num) : num := {| neg := neg x; sig := 0; exp := exp x; frac := frac x |}.

(** Rounded to less than the least normal number. *)
Lemma flushed_low c s n u : 1 <= p c -> flushes c = true -> zsign c = Positive -> (Rabs (IZR n * bp u) <= bp (emin c) - bp (emin c - p c))%R ->
  convert c s n u = Num {| neg := false; sig := 0; exp := emin c; frac := p c |}.
Proof.
  intros P F Zs A. unfold convert. set (r := round_div _ _ _). rewrite F, Zs. cbn [andb].
  assert (Q : (r =? 0) || ((Z.log2 (Z.abs r) + last_bit c n u <? emin c) || tiny c && is_tiny c n u) = true); [|now rewrite Q].
  destruct (Z.eqb_spec r 0) as [R|R]; [reflexivity|]. cbn [orb]. destruct (round_div_log2 c n u R) as [B1 _]. fold r in B1.
  assert (H : (Rabs (flt_rnd c (IZR n * bp u)) <= bp (emin c) - bp (emin c - p c))%R).
  { assert (0 <= p c) by lia. assert (Prec_gt_0 (p c + 1)) by (unfold Prec_gt_0; lia). unfold flt_rnd. apply abs_round_le_generic; auto with typeclass_instances.
    pose proof (pow2_pos (p c) ltac:(lia)). assert (2 ^ (p c + 1) = 2 * 2 ^ p c) by (rewrite Z.add_1_r, Z.pow_succ_r by lia; lia).
    apply generic_format_FLT. exists (Float radix2 (2 ^ p c - 1) (emin c - p c)); [|change (Zpower radix2 (p c + 1)) with (2 ^ (p c + 1)); cbn [Fnum]; lia|cbn; lia].
    unfold F2R. cbn [Fnum Fexp]. rewrite minus_IZR, <- bp_Z, Rmult_minus_distr_r, <- bpow_plus by lia. replace (p c + (emin c - p c)) with (emin c) by lia. ring. }
  assert (L : Z.log2 (Z.abs r) + last_bit c n u < emin c) by (apply (lt_bpow radix2); pose proof (bpow_gt_0 radix2 (emin c - p c)); lra).
  rewrite (proj2 (Z.ltb_lt _ _) L). reflexivity.
Qed.

Lemma subnormal_gone d n ps x : let o := frame_out d in let e := Design.c_bits d in
  group_size d = None -> frame_mode d = RZ -> frame_zero d = ZeroNone -> first_rounding d = None -> flushes o = true -> zsign o = Positive -> 1 <= p o -> 0 <= e ->
  (length ps <= n)%nat -> p o + 2 <= e -> Z.of_nat n <= 2 ^ (e - p o - 2) -> exp x <= emin o -> multiple (emin o - p o) x -> frac x <= e -> 0 <= sig x -> is_subnormal x = true ->
  (forall y, In y ps -> is_zero y = false -> exp x <= exp y - frame_bits d) ->
  framed_sum d ps x = framed_sum d ps (zero_like x).
Proof.
  intros o e Gs M Zn First F Zs P E0 Ln Cb Nb Ex Mx Fx Sx Sub Lp. unfold is_subnormal in Sub. apply andb_prop in Sub. destruct Sub as [Zx Lx]. apply negb_true_iff in Zx. apply Z.ltb_lt in Lx.
  assert (Zz : is_zero (zero_like x) = true) by reflexivity.
  assert (Vx : (Rabs (V x) < bp (exp x))%R).
  { unfold V, lsb. assert (A : Rabs (IZR (signed x)) = IZR (sig x)) by (rewrite <- abs_IZR; f_equal; unfold signed; destruct (neg x); lia).
    rewrite Rabs_mult, A, (Rabs_pos_eq (bp _)) by apply bpow_ge_0. replace (bp (exp x)) with (bp (frac x) * bp (exp x - frac x))%R by (rewrite <- bpow_plus; f_equal; lia).
    apply Rmult_lt_compat_r; [apply bpow_gt_0|]. unfold is_zero in Zx. apply Z.eqb_neq in Zx. destruct (Z.log2_spec (sig x)) as [_ L]; [lia|]. apply IZR_lt in L.
    eapply Rlt_le_trans; [exact L|]. rewrite <- bp_Z by (pose proof (Z.log2_nonneg (sig x)); lia). apply bpow_le. lia. }
  rewrite !framed_parts. destruct (forallb is_zero ps) eqn:Zp.
  - assert (None_ : forall v, frame_grid d ps v = omax (grid_of d e true v) None).
    { intros v. unfold frame_grid, omax_list. cbn [fold_right]. f_equal. clear -Zp Zn. induction ps as [|y l IH]; [reflexivity|]. cbn [forallb map fold_right] in *.
      apply andb_prop in Zp. destruct Zp as [Zy Zl]. rewrite IH by exact Zl. unfold grid_of. rewrite Zy, Zn. cbn [negb]. now destruct (grouped d). }
    rewrite !None_. unfold grid_of. rewrite Zx, Zz, Zn. cbn [negb omax unit_or_0]. set (g := exp x - e).
    unfold frame_end. rewrite First. fold o.
    assert (Az : frame_all d 0 ps (zero_like x) = [0]) by (unfold frame_all; rewrite forallb_app, Zp; reflexivity). rewrite Az.
    rewrite (flushed_low o _ (zsum [0]) 0); auto. 2: { cbn. rewrite Rmult_0_l, Rabs_R0. assert (bp (emin o - p o) <= bp (emin o))%R by (apply bpow_le; lia). lra. }
    apply flushed_low; auto. unfold frame_all. rewrite forallb_app, Zp. cbn [forallb]. rewrite Zx. cbn [andb].
    set (b := if drops_c d && _ && _ then 0 else cut (frame_mode d) g x). set (a := zsum (frame_counts d g ps x)).
    assert (K : zsum (frame_counts d g ps x ++ [b]) = a + b) by (rewrite zsum_app; cbn; lia). rewrite K.
    assert (Cx : (IZR (cut RZ g x) * bp g = V x)%R) by (rewrite cut_ok; apply fix_rnd_multiple, multiple_lsb; unfold g, lsb; lia).
    assert (Vb : (IZR b * bp g = V x)%R).
    { unfold b. destruct (drops_c d && _ && _) eqn:Q; [apply andb_prop in Q; destruct Q as [_ Q]; apply Z.eqb_eq in Q; now rewrite Q in Cx|now rewrite M]. }
    assert (Sb : if neg x then b <= 0 else 0 <= b).
    { assert (Q : (IZR b * bp g = IZR (signed x) * bp (lsb x))%R) by exact Vb. pose proof (scaled_neg _ _ _ _ Q) as Q1. pose proof (scaled_pos _ _ _ _ Q) as Q2.
      unfold signed in Q1, Q2. destruct (neg x); [destruct (Z.ltb_spec 0 b), (Z.ltb_spec 0 (- sig x)); lia|destruct (Z.ltb_spec b 0), (Z.ltb_spec (sig x) 0); lia]. }
    assert (Sa : if neg x then 0 <= a <= Z.of_nat n else - Z.of_nat n <= a <= 0).
    { assert (Q : if neg x then 0 <= a <= Z.of_nat (length ps) else - Z.of_nat (length ps) <= a <= 0); [|destruct (neg x); lia].
      unfold a, frame_counts. rewrite Gs. change (map _ ps) with (map (one_count d g x) ps). clearbody g. clear -Zp. induction ps as [|y l IH]; [destruct (neg x); cbn; lia|].
      cbn [forallb] in Zp. apply andb_prop in Zp. destruct Zp as [Zy Zl]. specialize (IH Zl). unfold zsum in *. cbn [map fold_right length].
      assert (if neg x then 0 <= one_count d g x y <= 1 else -1 <= one_count d g x y <= 0) by (unfold one_count; rewrite cut_zero by exact Zy; destruct (_ && _); destruct (neg x); lia).
      destruct (neg x); lia. }
    assert (Hn : (IZR (Z.of_nat n) * bp g <= bp (emin o) - bp (emin o - p o))%R).
    { apply Rle_trans with (bp (e - p o - 2) * bp g)%R; [apply Rmult_le_compat_r; [apply bpow_ge_0|rewrite bp_Z by lia; now apply IZR_le]|].
      rewrite <- bpow_plus. apply Rle_trans with (bp (emin o - p o)); [apply bpow_le; unfold g; lia|].
      assert (T : (2 * bp (emin o - p o) <= bp (emin o))%R) by (change 2%R with (bp 1); rewrite <- bpow_plus; apply bpow_le; lia). lra. }
    assert (Hx : (Rabs (V x) <= bp (emin o) - bp (emin o - p o))%R).
    { assert (On : on_grid (emin o - p o) (V x)) by now apply grid_of_multiple. destruct On as [k Hk]. rewrite Hk in *. rewrite Rabs_mult, (Rabs_pos_eq (bp (emin o - p o))), <- abs_IZR in * by apply bpow_ge_0.
      assert (Ek : Z.abs k < 2 ^ p o).
      { apply lt_IZR. rewrite <- bp_Z by lia. apply Rmult_lt_reg_r with (bp (emin o - p o)); [apply bpow_gt_0|]. rewrite <- bpow_plus. replace (p o + (emin o - p o)) with (emin o) by lia.
        eapply Rlt_le_trans; [exact Vx|]. apply bpow_le. lia. }
      assert (Le : (IZR (Z.abs k) <= IZR (2 ^ p o - 1))%R) by (apply IZR_le; lia).
      apply Rle_trans with (IZR (2 ^ p o - 1) * bp (emin o - p o))%R; [apply Rmult_le_compat_r; [apply bpow_ge_0|exact Le]|]. rewrite minus_IZR, <- bp_Z, Rmult_minus_distr_r, <- bpow_plus by lia.
      replace (p o + (emin o - p o)) with (emin o) by lia. lra. }
    rewrite <- Vb in Hx. rewrite Rabs_mult, (Rabs_pos_eq (bp g)), <- abs_IZR in * by apply bpow_ge_0.
    assert (Ab : Z.abs (a + b) <= Z.max (Z.abs b) (Z.of_nat n)) by (destruct (neg x); lia).
    apply Rle_trans with (IZR (Z.max (Z.abs b) (Z.of_nat n)) * bp g)%R; [apply Rmult_le_compat_r; [apply bpow_ge_0|now apply IZR_le]|].
    destruct (Z.max_spec (Z.abs b) (Z.of_nat n)) as [[_ ->]|[_ ->]]; auto.
  - assert (X : exists y, In y ps /\ is_zero y = false).
    { clear -Zp. induction ps as [|y l IH]; [easy|]. cbn [forallb] in Zp. destruct (is_zero y) eqn:Zy; [destruct (IH Zp) as [w [H1 H2]]; exists w; split; [now right|auto]|exists y; split; [now left|auto]]. }
    destruct X as [y [Hy Zy]]. specialize (Lp y Hy Zy).
    assert (Og : exists h, omax_list (map (grid_of d (frame_bits d) (negb (grouped d))) ps) = Some h /\ exp x <= h).
    { assert (L : ole (Some (exp y - frame_bits d)) (omax_list (map (grid_of d (frame_bits d) (negb (grouped d))) ps))).
      { assert (Gy : grid_of d (frame_bits d) (negb (grouped d)) y = Some (exp y - frame_bits d)) by (unfold grid_of; now rewrite Zy). rewrite <- Gy. clear -Hy.
        unfold omax_list. induction ps as [|z l IH]; [easy|]. cbn [map fold_right]. destruct Hy as [->|Hy]; [apply ole_max_l|]. eapply ole_trans; [now apply IH|apply ole_max_r]. }
      destruct (omax_list _) as [h|]; cbn in L; [|easy]. exists h. split; [reflexivity|lia]. }
    destruct Og as [h [Oh Lh]].
    assert (Gx : frame_grid d ps x = Some h) by (unfold frame_grid, omax_list in *; cbn [fold_right]; rewrite Oh; unfold grid_of; rewrite Zx; cbn [negb omax]; f_equal; fold e; lia).
    assert (Gz : frame_grid d ps (zero_like x) = Some h) by (unfold frame_grid, omax_list in *; cbn [fold_right]; rewrite Oh; unfold grid_of; rewrite Zz, Zn; cbn [negb omax]; reflexivity).
    rewrite Gx, Gz. cbn [unit_or_0].
    assert (A : forall v, frame_all d h ps v = frame_counts d h ps v ++ [if drops_c d && (emin (frame_out d) <? h) && (cut RZ h v =? 0) then 0 else cut (frame_mode d) h v]).
    { intros v. unfold frame_all. rewrite forallb_app, Zp. reflexivity. }
    rewrite !A. assert (Cg : cut RZ h x = 0) by (apply cut_gone with (exp x); auto).
    assert (Cz : cut RZ h (zero_like x) = 0) by now apply cut_zero.
    assert (Fc : frame_counts d h ps (zero_like x) = frame_counts d h ps x) by reflexivity.
    rewrite Fc, M, Cg, Cz. set (ns := frame_counts d h ps x ++ _). assert (Ns : frame_counts d h ps x ++ [if drops_c d && (emin (frame_out d) <? h) && (0 =? 0) then 0 else 0] = ns) by reflexivity.
    unfold frame_end. rewrite First. apply convert_unseen; [unfold unseen_sign; fold o; now rewrite Zs|]. intros N. unfold sign_of. destruct (Z.eqb_spec (zsum ns) 0); [easy|reflexivity].
Qed.

Definition low_c (tb cb : bounds) (f : frame) : bool :=
  let o := frame_out f in
  (low_upto cb <=? emin o) && (emin o - p o <=? grid cb) && (width cb <=? Design.c_bits f) && (low_upto cb <=? lowest tb - frame_bits f).

Definition flushed_c_free (d : design) (f : frame) : bool :=
  let o := frame_out f in
  none (composed d) && match c_rule d with Kept => true | _ => false end && (0 <? Z.of_nat (block d)) && format_ok (c_format d) &&
  match cutting_of d, zero_terms (factors d) with Whole, None => true | _, _ => false end && none (group_size f) && none (first_rounding f) &&
  match frame_mode f, frame_zero f, zsign o with RZ, ZeroNone, Positive => true | _, _, _ => false end && flushes o && (1 <=? p o) && range_ok o &&
  (p o + 2 <=? Design.c_bits f) && (Z.of_nat (block d) <=? 2 ^ (Design.c_bits f - p o - 2)) &&
  match term_bounds d with Some tb => low_c tb (format_bounds (c_format d)) f && low_c tb (result_bounds o) f | None => false end.

(** Where results are flushed and products are far above subnormals of c, those of c are zeros as well. *)
Theorem flushed_c_idle d f w : sums d = Framed f -> flushed_c_free d f = true -> pairs w <> [] -> compute d w = compute (with_rule d SignedZero) w.
Proof.
  intros Sd O _. unfold flushed_c_free in O. cbv zeta in O. set (o := frame_out f) in *. repeat rewrite andb_true_iff in O.
  destruct O as [[[[[[[[[[[[[Co Cr] B] Of] Cz] Gs] Fr] Mz] Fl] P] R] Cb] Nb] T].
  assert (Co' : composed d = None) by now destruct (composed d). destruct (c_rule d) eqn:Cr'; try easy. clear Cr. apply Z.ltb_lt in B. apply Z.leb_le in P, Cb, Nb.
  destruct (cutting_of d) eqn:W; try easy. destruct (zero_terms (factors d)) eqn:Zt; [easy|]. clear Cz.
  assert (Gs' : group_size f = None) by now destruct (group_size f). assert (Fr' : first_rounding f = None) by now destruct (first_rounding f).
  destruct (frame_mode f) eqn:Md; try easy. destruct (frame_zero f) eqn:Zd; try easy. destruct (zsign o) eqn:Zs; try easy. clear Mz.
  destruct (term_bounds d) as [tb|] eqn:Tb; [|easy]. apply andb_prop in T. destruct T as [T1 T2].
  set (d' := with_rule d SignedZero). set (C := fun v => inside (format_bounds (c_format d)) v \/ inside (result_bounds o) v).
  symmetry. apply (steps_alike d d' C); auto; [repeat split|lia| |left; now apply decode_inside].
  intros [v n] b Lb Mb Cv. cbn [fst] in Cv.
  assert (Ci : exists cb, low_c tb cb f = true /\ inside cb v) by (destruct Cv; eauto). destruct Ci as [cb [Lw Ic]]. unfold low_c in Lw. fold o in Lw. repeat rewrite andb_true_iff in Lw.
  destruct Lw as [[[L1 L2] L3] L4]. apply Z.leb_le in L1, L2, L3, L4. pose proof (products_inside d tb b Tb Mb) as Hp.
  assert (Td : terms d (ordered d b) = (block_products d b, None)) by (unfold terms; now rewrite W).
  assert (Sum : forall r fs fs', block_sum (Framed f) r None fs (block_products d b) (flush SignedZero v) = block_sum (Framed f) Kept None fs' (block_products d b) v).
  { intros r fs fs'. destruct v as [x| |]; try reflexivity. unfold flush. destruct (is_subnormal x) eqn:Sx; [|reflexivity]. cbn [negb]. change (Num _) with (Num (zero_like x)) at 1. cbn [block_sum].
    unfold on_numbers, numbers. rewrite !forallb_app. cbn [forallb is_num]. destruct (forallb is_num (block_products d b)) eqn:Nu; cbn [andb].
    - cbn [num_of]. symmetry. destruct (Ic x eq_refl) as [[S0 _] [_ [Mx [U Wx]]]]. unfold under in U. rewrite (subnormal_low x Sx) in U.
      apply (subnormal_gone f (block d)); auto; fold o; try lia; try (rewrite map_length, block_products_length; exact Lb); try (now apply multiple_le with (grid cb)).
      intros y Hy _. apply in_map_iff in Hy. destruct Hy as [q [<- Hq]]. rewrite Forall_forall in Hp. rewrite forallb_forall in Nu. specialize (Nu q Hq). destruct q as [q| |]; try easy.
      destruct (Hp (Num q) Hq q eq_refl) as [_ [Lq _]]. cbn [num_of]. lia.
    - unfold special_sum. now rewrite !existsb_app. }
  assert (Nan : is_nan (flush SignedZero v) = is_nan v) by (destruct v as [x| |]; auto; unfold flush; now destruct (negb (is_subnormal x))).
  split.
  - unfold block_step. change (skips d') with (skips d). destruct (skips d && _); [reflexivity|]. change (odd_first d') with (odd_first d). fold (ordered d b).
    change (terms d') with (terms d). rewrite Td. cbn [c_rule factors d' with_rule]. rewrite Cr', Zt, !zero_as_none, flush_kept. change (sums d') with (sums d). change (nans d') with (nans d). change (nan_word d') with (nan_word d).
    change (a_format d') with (a_format d). change (b_format d') with (b_format d). change (d_format d') with (d_format d).
    rewrite Sd, (Sum SignedZero _ (whole_factors d (ordered d b))), Nan. reflexivity.
  - rewrite block_step_value. unfold block_value. destruct (skipped d b); [exact Cv|]. right. rewrite Td, Sd. cbn [fst snd]. intros x Hx.
    assert (H : exists s i u, convert o s i u = Num x).
    { cbn [block_sum] in Hx. unfold on_numbers in Hx. destruct (numbers _); [|exfalso; now apply (special_not_num _ x) in Hx]. now apply framed_converted with (1 := Hx). }
    destruct H as [s [i [u H]]]. now apply (convert_inside _ _ _ _ R x H).
Qed.
