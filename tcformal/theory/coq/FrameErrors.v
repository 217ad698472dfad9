(** Sums whose c is aligned apart from the products (RDNA3, RDNA4), from words: the error of a block, in units of the common
    alignment, and the relative error of dot products of any length. *)
From Coq Require Import ZArith List Bool Reals Psatz Permutation Lia Lra.
From Flocq Require Import Core.
From TC Require Import Spec Design Designs Rounding Order Error Carry Negation Chains Integers Monotone Relative Words Values Irrelevant
  Losses Accumulated Trees Summations Exact Orders Paths Growth Down.
Import ListNotations.
Open Scope R_scope.

(** * What a sum is before it is rounded *)

(** The exponent of the unit of the common alignment. *)
Definition frame_unit (d : frame) (ps : list num) (c : num) : Z :=
  let zeros := match group_size d with Some _ => false | None => true end in
  match omax_list (grid_of d (Design.c_bits d) true c :: map (grid_of d (frame_bits d) zeros) ps) with Some g => g | None => 0%Z end.

Definition frame_rnd (d : frame) (y : R) : R :=
  flushed_rnd (frame_out d) (match first_rounding d with Some f => flushed_rnd f y | None => y end).

(** Groups are not empty, and products are complements of what is cut toward zero. *)
Definition framed_ok (d : frame) : bool :=
  monotone_conv (frame_out d) && match first_rounding d with Some f => monotone_conv f | None => true end &&
  match group_size d with Some size => (0 <? size)%nat | None => true end &&
  (negb (complement d) || match frame_mode d, group_size d with RZ, None => true | _, _ => false end).

(** 1, or -1 of a number that is negative. *)
Definition direction (c : num) : R := if neg c then -1 else 1.

(** Units that n products lose, and those that are left where one has the largest exponent, of c's sign, or of the other. *)
Definition group_units (size n : Z) : Z := ((n + (size - 1)) / size * Z.max 1 (size - 1))%Z.
Definition all_lost (d : frame) (n : Z) : Z := match group_size d with Some size => group_units (Z.of_nat size) n | None => n end.
Definition same_lost (d : frame) (n : Z) : Z := match group_size d with Some size => group_units (Z.of_nat size) n | None => n - 1 end.
Definition other_lost (d : frame) (n : Z) : Z := if complement d then all_lost d n else same_lost d n.

(** What a sum of lost units can be: complements are a unit further from c's direction, or none, and what is cut is on that side. *)
Definition within (d : frame) (s : R) (x u : R) : Prop := - u <= s * x <= (if complement d then 0 else u).

Lemma within_plus d s x y u v : within d s x u -> within d s y v -> within d s (x + y) (u + v).
Proof. unfold within. intros X Y. rewrite Rmult_plus_distr_l. destruct (complement d); lra. Qed.

Lemma within_more d s x u v : within d s x u -> u <= v -> within d s x v.
Proof. unfold within. intros X Y. destruct (complement d); lra. Qed.

Lemma within_abs d c x u : complement d = false -> Rabs x <= u -> within d (direction c) x u.
Proof. unfold within, direction. intros -> X. apply Rabs_le_inv in X. destruct (neg c); lra. Qed.

Lemma within_0 d s u : 0 <= u -> within d s 0 u.
Proof. unfold within. intros. rewrite Rmult_0_r. destruct (complement d); lra. Qed.

(** ** A product, and c *)

Lemma cut_signs u x : (0 <= x -> 0 <= fix_rnd RZ u x <= x /\ x - bp u < fix_rnd RZ u x) /\
  (x <= 0 -> x <= fix_rnd RZ u x <= 0 /\ fix_rnd RZ u x < x + bp u).
Proof.
  pose proof (truncated_term u x) as T. unfold fix_rnd in *; simpl rnd in *. split; intros H.
  - assert (0 <= round radix2 (FIX_exp u) Ztrunc x <= x).
    { split; [apply round_ge_generic; auto with typeclass_instances; apply generic_format_0|].
      rewrite round_ZR_DN by easy. apply round_DN_pt; auto with typeclass_instances. }
    rewrite !Rabs_pos_eq in T by lra. lra.
  - assert (x <= round radix2 (FIX_exp u) Ztrunc x <= 0).
    { split; [rewrite round_ZR_UP by lra; apply round_UP_pt; auto with typeclass_instances|].
      apply round_le_generic; auto with typeclass_instances; apply generic_format_0. }
    rewrite !Rabs_left1 in T by lra. lra.
Qed.

Lemma V_sign x : (0 <= sig x)%Z -> 0 <= direction x * V x /\ direction x * V x = Rabs (V x).
Proof.
  intros S. unfold direction, V, signed. pose proof (bpow_ge_0 radix2 (lsb x)) as B. apply IZR_le in S.
  assert (P : 0 <= IZR (sig x) * bp (lsb x)) by now apply Rmult_le_pos.
  destruct (neg x); [rewrite opp_IZR|]; split; try lra; [rewrite Rabs_left1|rewrite Rabs_pos_eq]; lra.
Qed.

Definition one_count (d : frame) (g : Z) (c x : num) : Z :=
  cut (frame_mode d) g x + (if complement d && xorb (neg x) (neg c) then if neg c then 1 else -1 else 0).

Lemma one_lost d g c x : framed_ok d = true -> (0 <= sig x)%Z ->
  within d (direction c) (IZR (one_count d g c x) * bp g - V x) (bp g) /\
  (fix_rnd (frame_mode d) g (V x) = V x -> complement d = false \/ neg x = neg c -> IZR (one_count d g c x) * bp g = V x).
Proof.
  intros O S. unfold one_count. pose proof (bpow_gt_0 radix2 g) as B. rewrite plus_IZR, Rmult_plus_distr_r, cut_ok.
  unfold framed_ok in O. repeat rewrite andb_true_iff in O. destruct O as [_ O]. destruct (complement d) eqn:K; cbn [negb orb andb] in *.
  - destruct (frame_mode d) eqn:M; try easy. destruct (cut_signs g (V x)) as [C1 C2]. destruct (V_sign x S) as [V1 _].
    unfold within. rewrite K. unfold direction in *. split.
    + destruct (neg x), (neg c); cbn [xorb]; first [specialize (C1 ltac:(lra)) | specialize (C2 ltac:(lra))]; lra.
    + intros E [H|H]; [discriminate|]. rewrite E, H. destruct (neg c); cbn [xorb]; lra.
  - rewrite Rmult_0_l, Rplus_0_r. split; [|now intros]. apply within_abs; auto. pose proof (fix_rnd_err (frame_mode d) g (V x)). lra.
Qed.

(** ** Products that are aligned together *)

Definition lost (d : frame) (g : Z) (ps : list num) (c : num) : R := IZR (zsum (frame_counts d g ps c)) * bp g - exact_sum ps.

Lemma alone_lost d g c ps : framed_ok d = true -> group_size d = None -> Forall (fun x => (0 <= sig x)%Z) ps ->
  within d (direction c) (lost d g ps c) (IZR (Z.of_nat (length ps)) * bp g) /\
  (forall y, In y ps -> fix_rnd (frame_mode d) g (V y) = V y -> complement d = false \/ neg y = neg c ->
    within d (direction c) (lost d g ps c) (IZR (Z.of_nat (length ps) - 1) * bp g)).
Proof.
  intros O G. pose proof (bpow_gt_0 radix2 g) as B. unfold lost, frame_counts. rewrite G. intros F.
  change (map _ ps) with (map (one_count d g c) ps). induction F as [|x r Sx F IH].
  - cbn. replace (0 * bp g - 0) with 0 by ring. split; [apply within_0; lra|easy].
  - destruct IH as [I1 I2]. destruct (one_lost d g c x O Sx) as [W1 W2]. cbn [map length]. change (zsum (?a :: ?l)) with (a + zsum l)%Z.
    rewrite plus_IZR, Nat2Z.inj_succ. unfold exact_sum in *. cbn [map]. rewrite Rsum_cons.
    replace ((IZR (one_count d g c x) + IZR (zsum (map (one_count d g c) r))) * bp g - (V x + Rsum (map V r))) with
      ((IZR (one_count d g c x) * bp g - V x) + (IZR (zsum (map (one_count d g c) r)) * bp g - Rsum (map V r))) by ring.
    split.
    + replace (IZR (Z.succ (Z.of_nat (length r))) * bp g) with (bp g + IZR (Z.of_nat (length r)) * bp g) by (unfold Z.succ; rewrite plus_IZR; ring).
      now apply within_plus.
    + intros y [<-|Hy] E K; replace (Z.succ (Z.of_nat (length r)) - 1)%Z with (Z.of_nat (length r)) by lia.
      * rewrite (W2 E K), Rminus_eq_0, Rplus_0_l. exact I1.
      * replace (IZR (Z.of_nat (length r)) * bp g) with (bp g + IZR (Z.of_nat (length r) - 1) * bp g) by (rewrite minus_IZR; ring).
        apply within_plus; eauto.
Qed.

(** ** Groups: the largest product of each is cut nowhere, and the sum of the others once more *)


Lemma again_lost m n u g : (u <= g)%Z -> Rabs (IZR (round_div m n (g - u)) * bp g - IZR n * bp u) <= bp g - bp u.
Proof.
  intros Ug. pose proof (round_div_loss m n u g) as L. set (r := round_div m n (g - u)) in *. pose proof (bpow_gt_0 radix2 u) as B.
  assert (E : bp g = IZR (2 ^ (g - u)) * bp u) by (rewrite <- bp_Z, <- bpow_plus by lia; f_equal; lia).
  rewrite E in *. replace (IZR r * (IZR (2 ^ (g - u)) * bp u) - IZR n * bp u) with (IZR (r * 2 ^ (g - u) - n) * bp u) in *
    by (rewrite minus_IZR, mult_IZR; ring).
  rewrite Rabs_mult, (Rabs_pos_eq (bp u)), <- abs_IZR in * by lra. apply Rmult_lt_reg_r in L; [|exact B]. apply lt_IZR in L.
  replace (IZR (2 ^ (g - u)) * bp u - bp u) with (IZR (2 ^ (g - u) - 1) * bp u) by (rewrite minus_IZR; ring).
  apply Rmult_le_compat_r; [lra|]. apply IZR_le. lia.
Qed.

Definition frame_groups (d : frame) (g : Z) (group : list num) : Z :=
  let live := filter (fun x => negb (is_zero x)) group in
  let u := match omax_list (map (fun x => Some (exp x)) live) with Some e => (e - frame_bits d)%Z | None => g end in
  round_div (frame_mode d) (zsum (map (cut (frame_mode d) u) live)) (g - u).

Lemma some_largest (l : list num) : l <> [] -> exists y, In y l /\ omax_list (map (fun x => Some (exp x)) l) = Some (exp y).
Proof.
  induction l as [|x r IH]; [easy|]. intros _. unfold omax_list in *. cbn [map fold_right]. destruct r as [|y r].
  - exists x. split; [now left|reflexivity].
  - destruct IH as [z [Hz ->]]; [easy|]. cbn [omax]. destruct (Z.max_spec (exp x) (exp z)) as [[_ ->]|[_ ->]]; [exists z; split; [now right|auto]|exists x; split; [now left|auto]].
Qed.

Lemma live_sum (l : list num) : exact_sum (filter (fun x => negb (is_zero x)) l) = exact_sum l.
Proof.
  unfold exact_sum. induction l as [|x r IH]; [reflexivity|]. cbn [filter map]. rewrite Rsum_cons. destruct (is_zero x) eqn:Z; cbn [negb map].
  - rewrite IH, (V_zero x Z). ring.
  - now rewrite Rsum_cons, IH.
Qed.

(** The largest product of a group is cut nowhere, and the sum of all once more. *)
Lemma group_lost d g l : Forall (settled (frame_bits d)) l -> (forall x, In x l -> is_zero x = false -> (exp x - frame_bits d <= g)%Z) ->
  Rabs (IZR (frame_groups d g l) * bp g - exact_sum l) <= IZR (Z.max 1 (Z.of_nat (length l) - 1)) * bp g.
Proof.
  intros F U. unfold frame_groups. pose proof (live_sum l) as LS. pose proof (bpow_gt_0 radix2 g) as Bg.
  set (live := filter (fun x => negb (is_zero x)) l) in *. rewrite <- LS.
  assert (Le : (length live <= length l)%nat) by (unfold live; clear; induction l; cbn; [lia|destruct (negb _); cbn; lia]).
  assert (In1 : forall x, In x live -> In x l /\ is_zero x = false).
  { intros x Hx. apply filter_In in Hx. destruct Hx as [H1 H2]. now apply negb_true_iff in H2. }
  assert (Mx : 1 <= IZR (Z.max 1 (Z.of_nat (length l) - 1))) by (apply IZR_le; lia).
  destruct live as [|x0 r] eqn:Lv.
  - cbn [map omax_list fold_right zsum]. rewrite round_div_0. unfold exact_sum. cbn. rewrite Rmult_0_l, Rminus_0_r, Rabs_R0. nra.
  - rewrite <- Lv in *. destruct (some_largest live) as [y [Hy E]]; [now rewrite Lv|]. rewrite E. destruct (In1 y Hy) as [Hy' Zy].
    set (u := (exp y - frame_bits d)%Z) in *. pose proof (U y Hy' Zy) as Ug. pose proof (bpow_gt_0 radix2 u) as Bu. fold u in Ug.
    set (n := zsum (map (cut (frame_mode d) u) live)).
    assert (L1 : Rabs (IZR n * bp u - exact_sum live) <= IZR (Z.of_nat (length live) - 1) * bp u).
    { assert (Sy : loss (frame_mode d) u y = 0) by (apply settled_loss; rewrite Forall_forall in F; auto).
      apply in_split in Hy. destruct Hy as [a [b Eq]].
      assert (Q : forall q, Rabs (IZR (zsum (map (cut (frame_mode d) u) q)) * bp u - exact_sum q) <= Rsum (map (loss (frame_mode d) u) q)).
      { induction q as [|z q IH]; [unfold exact_sum; cbn; rewrite Rmult_0_l, Rminus_0_r, Rabs_R0; lra|].
        cbn [map]. change (zsum (?a :: ?l)) with (a + zsum l)%Z. rewrite plus_IZR, Rsum_cons. unfold exact_sum in *. cbn [map]. rewrite Rsum_cons.
        replace ((IZR (cut (frame_mode d) u z) + IZR (zsum (map (cut (frame_mode d) u) q))) * bp u - (V z + Rsum (map V q))) with
          ((IZR (cut (frame_mode d) u z) * bp u - V z) + (IZR (zsum (map (cut (frame_mode d) u) q)) * bp u - Rsum (map V q))) by ring.
        eapply Rle_trans; [apply Rabs_triang|]. apply Rplus_le_compat; [|exact IH]. unfold loss. rewrite cut_ok. apply Rle_refl. }
      unfold n. eapply Rle_trans; [apply Q|]. rewrite Eq, map_app, Rsum_app. cbn [map]. rewrite Rsum_cons, Sy, Rplus_0_l, app_length. cbn [length].
      assert (A : forall q, Rsum (map (loss (frame_mode d) u) q) <= INR (length q) * 1 * bp u).
      { intros q. apply losses_repeat. apply Forall_forall. intros z _. unfold loss. pose proof (fix_rnd_err (frame_mode d) u (V z)). lra. }
      pose proof (A a). pose proof (A b). replace (Z.of_nat (length a + S (length b)) - 1)%Z with (Z.of_nat (length a + length b)) by lia.
      rewrite <- INR_IZR_INZ, plus_INR. lra. }
    pose proof (again_lost (frame_mode d) n u g Ug) as L2.
    assert (Bug : bp u <= bp g) by (now apply bpow_le).
    match goal with |- Rabs (?a - ?s) <= _ => replace (a - s) with ((a - IZR n * bp u) + (IZR n * bp u - s)) by ring end.
    eapply Rle_trans; [apply Rabs_triang|].
    assert (K : (1 <= Z.of_nat (length live))%Z) by (rewrite Lv; cbn [length]; lia).
    set (k := Z.of_nat (length live)) in *. rewrite minus_IZR in L1.
    assert (Lim : IZR (k - 2) * bp u + bp g <= IZR (Z.max 1 (Z.of_nat (length l) - 1)) * bp g); [|rewrite minus_IZR in Lim; lra].
    destruct (Z.eq_dec k 1) as [->|K1].
    + change (IZR (1 - 2)) with (-1). nra.
    + assert (IZR (k - 2) * bp u <= IZR (k - 2) * bp g) by (apply Rmult_le_compat_l; [apply IZR_le; lia|auto]).
      assert (IZR (k - 1) <= IZR (Z.max 1 (Z.of_nat (length l) - 1))) by (apply IZR_le; lia).
      assert (IZR (k - 1) * bp g <= IZR (Z.max 1 (Z.of_nat (length l) - 1)) * bp g) by (apply Rmult_le_compat_r; lra).
      rewrite !minus_IZR in *. lra.
Qed.

Lemma groups_lost d g size : (0 < size)%nat -> forall k l, (length l <= k)%nat ->
  Forall (settled (frame_bits d)) l -> (forall x, In x l -> is_zero x = false -> (exp x - frame_bits d <= g)%Z) ->
  Rabs (IZR (zsum (map (frame_groups d g) (cut_list k size l))) * bp g - exact_sum l) <= IZR (group_units (Z.of_nat size) (Z.of_nat (length l))) * bp g.
Proof.
  intros S0. pose proof (bpow_gt_0 radix2 g) as Bg. set (m := Z.max 1 (Z.of_nat size - 1)).
  assert (Gu : forall n, (0 <= n)%Z -> (0 <= group_units (Z.of_nat size) n)%Z).
  { intros n N. unfold group_units. apply Z.mul_nonneg_nonneg; [|lia]. apply Z.div_pos; lia. }
  induction k as [|k IH]; intros l L F U.
  - destruct l; [|cbn in L; lia]. cbn. unfold exact_sum. cbn. rewrite Rmult_0_l, Rminus_0_r, Rabs_R0. apply Rmult_le_pos; [|lra]. apply IZR_le. now apply (Gu 0%Z).
  - destruct l as [|x r].
    { cbn. unfold exact_sum. cbn. rewrite Rmult_0_l, Rminus_0_r, Rabs_R0. apply Rmult_le_pos; [|lra]. apply IZR_le. now apply (Gu 0%Z). }
    set (l := x :: r) in *. change (cut_list (S k) size l) with (firstn size l :: cut_list k size (skipn size l)). cbn [map]. change (zsum (?a :: ?q)) with (a + zsum q)%Z.
    rewrite plus_IZR. rewrite <- (firstn_skipn size l) in F, U. pose proof F as F'. rewrite Forall_app in F'. destruct F' as [F1 F2].
    assert (Es : exact_sum l = exact_sum (firstn size l) + exact_sum (skipn size l)).
    { rewrite <- (firstn_skipn size l) at 1. unfold exact_sum. now rewrite map_app, Rsum_app. }
    rewrite Es. specialize (IH (skipn size l)). rewrite skipn_length in IH.
    assert (L1 : (length l <= S k)%nat) by exact L. assert (L2 : (1 <= length l)%nat) by (unfold l; cbn; lia).
    specialize (IH ltac:(lia) F2 ltac:(intros; apply U; auto; apply in_or_app; now right)).
    pose proof (group_lost d g (firstn size l) F1 ltac:(intros; apply U; auto; apply in_or_app; now left)) as GL. rewrite firstn_length in GL.
    match goal with |- Rabs ((?a + ?b) * ?w - (?s + ?t)) <= _ => replace ((a + b) * w - (s + t)) with ((a * w - s) + (b * w - t)) by ring end.
    eapply Rle_trans; [apply Rabs_triang|]. eapply Rle_trans; [apply Rplus_le_compat; [exact GL|exact IH]|]. rewrite <- Rmult_plus_distr_r, <- plus_IZR.
    apply Rmult_le_compat_r; [lra|]. apply IZR_le. unfold group_units. fold m.
    set (n := Z.of_nat (length l)). assert (N : (1 <= n)%Z) by (unfold n; lia). set (s := Z.of_nat size).
    assert (M1 : (Z.max 1 (Z.of_nat (Nat.min size (length l)) - 1) <= m)%Z) by (unfold m; lia).
    destruct (le_lt_dec (length l) size) as [Q|Q].
    + replace (Z.of_nat (length l - size)) with 0%Z by lia. rewrite Z.add_0_l.
      assert (E0 : ((s - 1) / s = 0)%Z) by (apply Z.div_small; unfold s; lia). rewrite E0, Z.mul_0_l, Z.add_0_r.
      assert (E1 : (1 <= (n + (s - 1)) / s)%Z) by (apply Z.div_le_lower_bound; unfold s, n in *; lia). nia.
    + replace (Z.of_nat (length l - size)) with (n - s)%Z by (unfold n, s; lia).
      replace (n + (s - 1))%Z with ((n - s + (s - 1)) + 1 * s)%Z by lia. rewrite Z.div_add by (unfold s; lia). nia.
Qed.

(** What the products lose; and where one of them is cut nowhere. *)
Lemma products_lost d g c ps n : framed_ok d = true -> Forall (fun x => (0 <= sig x)%Z) ps -> Forall (settled (frame_bits d)) ps ->
  (forall x, In x ps -> is_zero x = false -> (exp x - frame_bits d <= g)%Z) -> (Z.of_nat (length ps) <= n)%Z ->
  within d (direction c) (lost d g ps c) (IZR (all_lost d n) * bp g) /\
  (forall y, In y ps -> fix_rnd (frame_mode d) g (V y) = V y ->
    within d (direction c) (lost d g ps c) (IZR (if xorb (neg y) (neg c) then other_lost d n else same_lost d n) * bp g)).
Proof.
  intros O S F U N. pose proof (bpow_gt_0 radix2 g) as B.
  assert (Le : forall i j, (i <= j)%Z -> IZR i * bp g <= IZR j * bp g) by (intros; apply Rmult_le_compat_r; [lra|now apply IZR_le]).
  unfold other_lost, all_lost, same_lost. destruct (group_size d) as [size|] eqn:G.
  - pose proof O as O'. unfold framed_ok in O'. repeat rewrite andb_true_iff in O'. destruct O' as [[_ Sz] K]. rewrite G in Sz, K. apply Nat.ltb_lt in Sz.
    assert (C : complement d = false) by (destruct (complement d); auto; cbn in K; now destruct (frame_mode d)). rewrite C.
    assert (W : within d (direction c) (lost d g ps c) (IZR (group_units (Z.of_nat size) n) * bp g)).
    { eapply within_more; [apply within_abs; [exact C|]|].
      - unfold lost, frame_counts. rewrite G. change (map _ (cut_list (length ps) size ps)) with (map (frame_groups d g) (cut_list (length ps) size ps)).
        apply groups_lost; auto.
      - apply Le. unfold group_units. apply Z.mul_le_mono_nonneg_r; [lia|]. apply Z.div_le_mono; lia. }
    split; [exact W|]. intros y _ _. now destruct (xorb (neg y) (neg c)).
  - destruct (alone_lost d g c ps O G S) as [W1 W2]. split; [eapply within_more; [exact W1|apply Le; lia]|].
    intros y Hy E. destruct (complement d) eqn:C.
    + destruct (neg y) eqn:Ny, (neg c) eqn:Nc; cbn [xorb]; try (eapply within_more; [exact W1|apply Le; lia]);
        (eapply within_more; [apply (W2 y Hy E); right; congruence|apply Le; lia]).
    + assert (W : within d (direction c) (lost d g ps c) (IZR (n - 1) * bp g)) by (eapply within_more; [apply (W2 y Hy E); auto|apply Le; lia]).
      now destruct (xorb (neg y) (neg c)).
Qed.

(** ** The whole sum *)

Lemma unit_least d ps c x : In x ps -> is_zero x = false -> (exp x - frame_bits d <= frame_unit d ps c)%Z.
Proof.
  intros Hx Z. unfold frame_unit. set (zeros := match group_size d with Some _ => false | None => true end).
  set (top := omax_list _). assert (T : ole (Some (exp x - frame_bits d)%Z) top); [|destruct top; [exact T|easy]].
  unfold top, omax_list. cbn [fold_right]. eapply ole_trans; [|apply ole_max_r].
  assert (E : grid_of d (frame_bits d) zeros x = Some (exp x - frame_bits d)%Z) by (unfold grid_of; now rewrite Z). rewrite <- E. clear -Hx.
  induction ps as [|y r IH]; [easy|]. cbn [map fold_right]. destruct Hx as [->|Hx]; [apply ole_max_l|]. eapply ole_trans; [now apply IH|apply ole_max_r].
Qed.

Lemma c_lost d g c o : framed_ok d = true -> (0 <= sig c)%Z -> let gone := drops_c d && o && (cut RZ g c =? 0)%Z in
  within d (direction c) (IZR (if gone then 0 else cut (frame_mode d) g c) * bp g - V c) (bp g) /\
  (fix_rnd RZ g (V c) = V c -> fix_rnd (frame_mode d) g (V c) = V c -> IZR (if gone then 0 else cut (frame_mode d) g c) * bp g = V c).
Proof.
  intros O S gone. pose proof (one_lost d g c c O S) as [W1 W2]. unfold one_count in *. rewrite xorb_nilpotent, andb_false_r, Z.add_0_r in *.
  pose proof (cut_ok RZ g c) as C. destruct gone eqn:G; [|split; auto]. unfold gone in G. apply andb_prop in G. destruct G as [_ G]. apply Z.eqb_eq in G. rewrite G, Rmult_0_l in C.
  rewrite Rmult_0_l. split; [|intros; congruence]. destruct (V_sign c S) as [V1 V2]. pose proof (fix_rnd_err RZ g (V c)) as E. rewrite <- C in E.
  replace (0 - V c) with (- V c) in * by ring. rewrite Rabs_Ropp in E. unfold within. destruct (complement d); lra.
Qed.

(** The value that is rounded, which lost so much; [framed_error] bounds it by units of the alignment. *)
Definition frame_lost (d : frame) (g : Z) (ps : list num) (c : num) : R :=
  lost d g ps c + (IZR (if drops_c d && (emin (frame_out d) <? g)%Z && (cut RZ g c =? 0)%Z then 0 else cut (frame_mode d) g c) * bp g - V c).

Lemma framed_value d ps c z : framed_ok d = true -> framed_sum d ps c = Num z ->
  exists x, V z = frame_rnd d (exact_sum ps + V c + x) /\
    ((forallb is_zero (ps ++ [c]) = true /\ x = 0) \/ (forallb is_zero (ps ++ [c]) = false /\ x = frame_lost d (frame_unit d ps c) ps c)).
Proof.
  intros O H. unfold framed_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[P Pf] _] _]. unfold framed_sum in H. cbv zeta in H.
  assert (Eg : match omax_list (grid_of d (Design.c_bits d) true c :: map (grid_of d (frame_bits d) (negb match group_size d with Some _ => true | None => false end)) ps) with
    | Some g => g | None => 0%Z end = frame_unit d ps c) by (unfold frame_unit; now destruct (group_size d)).
  rewrite Eg in H. set (g := frame_unit d ps c) in *.
  set (gone := drops_c d && (emin (frame_out d) <? g)%Z && (cut RZ g c =? 0)%Z) in *.
  set (ns := if forallb is_zero (ps ++ [c]) then [0%Z] else frame_counts d g ps c ++ [if gone then 0%Z else cut (frame_mode d) g c]) in *.
  assert (Vz : V z = frame_rnd d (IZR (zsum ns) * bp g)).
  { unfold frame_rnd. destruct (first_rounding d) as [f|].
    - destruct (convert f _ (zsum ns) g) as [y| |] eqn:Cv; try easy. rewrite (round_num_flushed _ _ _ P H). now rewrite (convert_num_flushed _ _ _ _ _ Pf Cv).
    - exact (convert_num_flushed _ _ _ _ _ P H). }
  exists (IZR (zsum ns) * bp g - (exact_sum ps + V c)). split; [rewrite Vz; f_equal; ring|]. unfold ns. destruct (forallb is_zero (ps ++ [c])) eqn:Az; [left|right]; split; auto.
  - assert (E0 : exact_sum (ps ++ [c]) = 0).
    { rewrite forallb_forall in Az. unfold exact_sum. rewrite (Rsum_ext V (fun _ => 0)) by (intros; now apply V_zero, Az). clear. induction (ps ++ [c]); cbn; [reflexivity|]. unfold Rsum in *. cbn. lra. }
    unfold exact_sum in *. rewrite map_app, Rsum_app in E0. cbn in *. lra.
  - unfold frame_lost, lost. fold gone. rewrite zsum_app, plus_IZR. cbn [zsum fold_right]. rewrite Z.add_0_r. ring.
Qed.

(** Of one block: a unit of the common alignment for c and for every product, fewer in groups, and the roundings. *)
Theorem framed_error d ps c z : framed_ok d = true -> Forall (fun x => (0 <= sig x)%Z) (ps ++ [c]) -> Forall (settled (frame_bits d)) ps ->
  framed_sum d ps c = Num z ->
  exists x, V z = frame_rnd d (exact_sum ps + V c + x) /\
    within d (direction c) x (IZR (all_lost d (Z.of_nat (length ps)) + 1) * bp (frame_unit d ps c)).
Proof.
  intros O S F H. apply Forall_app in S. destruct S as [Sp Sc]. inversion Sc as [|? ? Sc' _]; subst. set (g := frame_unit d ps c).
  destruct (framed_value d ps c z O H) as [x [Vz X]]. exists x. split; [exact Vz|]. pose proof (bpow_gt_0 radix2 g) as B. fold g in X.
  destruct (products_lost d g c ps (Z.of_nat (length ps)) O Sp F (fun x Hx Zx => unit_least d ps c x Hx Zx) (Z.le_refl _)) as [W _].
  rewrite plus_IZR, Rmult_plus_distr_r, Rmult_1_l. destruct X as [[_ ->]|[_ ->]].
  - pose proof W as W'. unfold within in W'. apply within_0. destruct (complement d); lra.
  - apply within_plus; [exact W|]. apply c_lost; auto.
Qed.

(** * In terms of magnitudes *)

(** How much smaller than a unit a number's exponent can make it: [e0] bounds exponents without a leading bit. *)
Definition frame_floor (d : frame) (e0 : Z) : Z :=
  let g := (e0 - Design.c_bits d)%Z in match frame_zero d with ZeroAt z => Z.max g (z - frame_bits d) | _ => g end.

(** Of c at most so many units, 0 where it is known to be 0. *)
Definition c_lost_at_most (zero : bool) : Z := if zero then 0%Z else 1%Z.

(** The sums of products of c's sign, and of the other: the magnitudes are [a] and the sum is [s]. *)
Definition towards (c : num) (a s : R) : R := (a + direction c * s) / 2.
Definition against (c : num) (a s : R) : R := (a - direction c * s) / 2.

Lemma sides_pos c ps : 0 <= towards c (magnitude ps) (exact_sum ps) /\ 0 <= against c (magnitude ps) (exact_sum ps).
Proof.
  pose proof (exact_sum_abs ps) as E. apply Rabs_le_inv in E. unfold towards, against, direction. destruct (neg c); lra.
Qed.

Lemma side_in c ps y : In y ps -> (0 <= sig y)%Z ->
  Rabs (V y) <= if xorb (neg y) (neg c) then against c (magnitude ps) (exact_sum ps) else towards c (magnitude ps) (exact_sum ps).
Proof.
  intros Hy S. apply in_split in Hy. destruct Hy as [a [b ->]]. pose proof (exact_sum_abs (a ++ b)) as E. apply Rabs_le_inv in E.
  assert (Em : magnitude (a ++ y :: b) = Rabs (V y) + magnitude (a ++ b)) by (unfold magnitude; rewrite !map_app, !Rsum_app; cbn [map]; rewrite Rsum_cons; ring).
  assert (Ee : exact_sum (a ++ y :: b) = V y + exact_sum (a ++ b)) by (unfold exact_sum; rewrite !map_app, !Rsum_app; cbn [map]; rewrite Rsum_cons; ring).
  rewrite Em, Ee. destruct (V_sign y S) as [_ V2]. unfold direction in V2. unfold towards, against, direction. cbv beta. destruct (neg y), (neg c); cbn [xorb]; cbv beta iota; lra.
Qed.

Lemma omax_in (l : list (option Z)) e : omax_list l = Some e -> In (Some e) l.
Proof.
  unfold omax_list. induction l as [|o r IH]; [easy|]. cbn [fold_right]. destruct o as [x|]; destruct (fold_right omax None r) as [y|] eqn:Q; cbn [omax]; intros H.
  - injection H as <-. destruct (Z.max_spec x y) as [[_ M]|[_ M]]; rewrite M in *; [right; now apply IH|now left].
  - injection H as <-. now left.
  - right. now apply IH.
  - easy.
Qed.

Definition zeros_bounded (d : frame) : bool := match frame_zero d with ZeroOwn => false | _ => true end.

(** What is lost before the roundings, of each side's magnitudes and of c's. *)
Theorem framed_loss d e0 ps c n zero : framed_ok d = true -> zeros_bounded d = true -> (0 <= n)%Z -> (Z.of_nat (length ps) <= n)%Z ->
  Forall (fun x => (0 <= sig x)%Z /\ settled (frame_bits d) x /\ normal x) ps ->
  (0 <= sig c)%Z -> settled (Design.c_bits d) c -> floored e0 c -> (zero = true -> is_zero c = true) ->
  forall x, (forallb is_zero (ps ++ [c]) = true /\ x = 0) \/ (forallb is_zero (ps ++ [c]) = false /\ x = frame_lost d (frame_unit d ps c) ps c) ->
  let k := c_lost_at_most zero in
  exists u, within d (direction c) x u /\ 0 <= u /\
    u <= IZR (same_lost d n + k) * bp (- frame_bits d) * towards c (magnitude ps) (exact_sum ps) +
         IZR (other_lost d n + k) * bp (- frame_bits d) * against c (magnitude ps) (exact_sum ps) +
         IZR (all_lost d n) * bp (- Design.c_bits d) * Rabs (V c) + IZR (all_lost d n + 1) * bp (frame_floor d e0).
Proof.
  intros O Zo N0 N F Sc Fc Flc Zc x X k. unfold zeros_bounded in Zo. set (g := frame_unit d ps c) in *. pose proof (bpow_gt_0 radix2 g) as B.
  assert (F1 : Forall (fun x => (0 <= sig x)%Z) ps) by (eapply Forall_impl; [|exact F]; intros y Hy; apply Hy).
  assert (F2 : Forall (settled (frame_bits d)) ps) by (eapply Forall_impl; [|exact F]; intros y Hy; apply Hy).
  destruct (sides_pos c ps) as [T0 A0]. set (T := towards c (magnitude ps) (exact_sum ps)) in *. set (A := against c (magnitude ps) (exact_sum ps)) in *.
  pose proof (Rabs_pos (V c)) as C0. pose proof (bpow_gt_0 radix2 (- frame_bits d)) as BF. pose proof (bpow_gt_0 radix2 (- Design.c_bits d)) as BC.
  pose proof (bpow_gt_0 radix2 (frame_floor d e0)) as B0. assert (k0 : (0 <= k)%Z) by (unfold k; destruct zero; cbn; lia).
  assert (All0 : (0 <= all_lost d n)%Z).
  { unfold all_lost, group_units. destruct (group_size d) as [size|] eqn:G; [|lia]. apply Z.mul_nonneg_nonneg; [|lia].
    unfold framed_ok in O. rewrite G in O. repeat rewrite andb_true_iff in O. destruct O as [[_ O] _]. apply Nat.ltb_lt in O. apply Z.div_pos; lia. }
  assert (P : (0 <= other_lost d n + k)%Z /\ (0 <= same_lost d n + k)%Z \/ n = 0%Z).
  { destruct (Z.eq_dec n 0); [now right|left]. clearbody k. clear - All0 k0 N0 n0. unfold other_lost, same_lost, all_lost in *. destruct (group_size d); destruct (complement d); lia. }
  set (sl := IZR (same_lost d n + k)) in *. set (ol := IZR (other_lost d n + k)) in *. set (al := IZR (all_lost d n)) in *. set (al1 := IZR (all_lost d n + 1)) in *.
  assert (Al0 : 0 <= al) by (now apply IZR_le). assert (Al1 : 0 <= al1) by (apply IZR_le; lia).
  (* what is on the right is not negative *)
  assert (Zero : T = 0 /\ A = 0 \/ (0 <= sl /\ 0 <= ol)).
  { destruct P as [[P1 P2]|P]; [right; split; now apply IZR_le|left]. destruct ps as [|y r]; [|cbn [length] in N; lia].
    unfold T, A, towards, against, magnitude, exact_sum. cbn. split; lra. }
  assert (R0 : 0 <= sl * bp (- frame_bits d) * T /\ 0 <= ol * bp (- frame_bits d) * A).
  { destruct Zero as [[-> ->]|[S0 O0]]; [lra|]. split; (apply Rmult_le_pos; [apply Rmult_le_pos; lra|auto]). }
  assert (R1 : 0 <= al * bp (- Design.c_bits d) * Rabs (V c)) by (apply Rmult_le_pos; [apply Rmult_le_pos; lra|auto]).
  assert (R2 : 0 <= al1 * bp (frame_floor d e0)) by (apply Rmult_le_pos; lra).
  destruct X as [[_ ->]|[Nz ->]]; [exists 0; split; [apply within_0|]; lra|].
  destruct (products_lost d g c ps n O F1 F2 (fun x Hx Zx => unit_least d ps c x Hx Zx) N) as [W1 W2].
  destruct (c_lost d g c (emin (frame_out d) <? g)%Z O Sc) as [W3 W4]. cbv zeta in W3, W4. unfold frame_lost.
  (* c is cut by a unit at most, and a zero by none *)
  assert (Ck : within d (direction c) (IZR (if drops_c d && (emin (frame_out d) <? g)%Z && (cut RZ g c =? 0)%Z then 0 else cut (frame_mode d) g c) * bp g - V c) (IZR k * bp g)).
  { unfold k. destruct zero; cbn [c_lost_at_most]; [|rewrite Rmult_1_l; exact W3]. rewrite W4, Rminus_eq_0, Rmult_0_l; [apply within_0; lra| |];
      rewrite V_zero by auto; unfold fix_rnd; apply round_0; auto with typeclass_instances. }
  assert (Floor : (g <= frame_floor d e0)%Z -> exists u, within d (direction c)
      (lost d g ps c + (IZR (if drops_c d && (emin (frame_out d) <? g)%Z && (cut RZ g c =? 0)%Z then 0 else cut (frame_mode d) g c) * bp g - V c)) u /\
      0 <= u /\ u <= al1 * bp (frame_floor d e0)).
  { intros L. exists (al1 * bp g). split; [|split].
    - unfold al1. rewrite plus_IZR, Rmult_plus_distr_r, Rmult_1_l. now apply within_plus.
    - apply Rmult_le_pos; lra.
    - apply Rmult_le_compat_l; [exact Al1|now apply bpow_le]. }
  assert (Enough : (g <= frame_floor d e0)%Z -> exists u, within d (direction c)
      (lost d g ps c + (IZR (if drops_c d && (emin (frame_out d) <? g)%Z && (cut RZ g c =? 0)%Z then 0 else cut (frame_mode d) g c) * bp g - V c)) u /\
      0 <= u /\ u <= sl * bp (- frame_bits d) * T + ol * bp (- frame_bits d) * A + al * bp (- Design.c_bits d) * Rabs (V c) + al1 * bp (frame_floor d e0)).
  { intros L. destruct (Floor L) as [u [U1 [U2 U3]]]. exists u. split; [exact U1|]. lra. }
  (* the term that has the largest exponent *)
  set (zeros := match group_size d with Some _ => false | None => true end).
  assert (G : frame_unit d ps c = match omax_list (grid_of d (Design.c_bits d) true c :: map (grid_of d (frame_bits d) zeros) ps) with Some g => g | None => 0%Z end) by reflexivity.
  fold g in G. destruct (omax_list (grid_of d (Design.c_bits d) true c :: map (grid_of d (frame_bits d) zeros) ps)) as [e|] eqn:Top.
  2: { exfalso. assert (Q : exists y, In y (ps ++ [c]) /\ is_zero y = false).
       { clear -Nz. induction (ps ++ [c]) as [|y r IH]; [easy|]. cbn in Nz. destruct (is_zero y) eqn:Z; [|exists y; split; [now left|auto]].
         destruct IH as [q [H1 H2]]; auto. exists q. split; [now right|auto]. }
       destruct Q as [y [Hy Zy]]. apply in_app_or in Hy. unfold omax_list in Top. cbn [fold_right] in Top. destruct Hy as [Hy|[<-|[]]].
       - assert (M : ole (grid_of d (frame_bits d) zeros y) (fold_right omax None (map (grid_of d (frame_bits d) zeros) ps))).
         { clear -Hy. induction ps as [|q r IH]; [easy|]. cbn [map fold_right]. destruct Hy as [->|Hy]; [apply ole_max_l|]. eapply ole_trans; [now apply IH|apply ole_max_r]. }
         unfold grid_of in M at 1. rewrite Zy in M. cbn [negb] in M. destruct (fold_right omax None (map (grid_of d (frame_bits d) zeros) ps)); [|easy].
         destruct (grid_of d (Design.c_bits d) true c); discriminate Top.
       - unfold grid_of in Top at 1. rewrite Zy in Top. cbn [negb] in Top. destruct (fold_right omax None _); discriminate Top. }
  subst e. pose proof (omax_in _ _ Top) as I. destruct I as [I|I].
  - (* c *)
    unfold grid_of in I. destruct (is_zero c) eqn:Zc0; cbn [negb] in I.
    + apply Enough. unfold frame_floor. destruct (frame_zero d) as [| |z]; [discriminate|easy|]. injection I as I. rewrite <- I. lia.
    + injection I as I. destruct (Flc Zc0) as [L|L].
      2: { apply Enough. unfold frame_floor. destruct (frame_zero d); lia. }
      assert (E : forall m, fix_rnd m g (V c) = V c).
      { intros m. rewrite <- I. pose proof (settled_loss m (Design.c_bits d) c Fc) as SL. unfold loss in SL. apply Rabs_eq_R0 in SL. lra. }
      exists (al * bp g). split; [|split; [apply Rmult_le_pos; lra|]].
      * rewrite (W4 (E _) (E _)), Rminus_eq_0, Rplus_0_r. exact W1.
      * assert (Q : bp g <= bp (- Design.c_bits d) * Rabs (V c)).
        { replace (bp g) with (bp (- Design.c_bits d) * bp (exp c)) by (rewrite <- bpow_plus; f_equal; lia). now apply Rmult_le_compat_l; [apply bpow_ge_0|]. }
        pose proof (Rmult_le_compat_l al _ _ Al0 Q). lra.
  - (* a product *)
    apply in_map_iff in I. destruct I as [y [I Hy]]. unfold grid_of in I. destruct (is_zero y) eqn:Zy; cbn [negb] in I.
    + apply Enough. destruct zeros; cbn [negb] in I; [|discriminate]. unfold frame_floor. destruct (frame_zero d) as [| |z]; [discriminate|easy|]. injection I as I. rewrite <- I. lia.
    + injection I as I. rewrite Forall_forall in F. destruct (F y Hy) as [Sy [Fy Ny]]. specialize (Ny Zy).
      assert (E : fix_rnd (frame_mode d) g (V y) = V y).
      { rewrite <- I. pose proof (settled_loss (frame_mode d) (frame_bits d) y Fy) as SL. unfold loss in SL. apply Rabs_eq_R0 in SL. lra. }
      destruct Zero as [[T1 A1]|[S0 O0]].
      { exfalso. pose proof (side_in c ps y Hy Sy) as SI. pose proof (bpow_gt_0 radix2 (exp y)). destruct (xorb (neg y) (neg c)); [fold A in SI|fold T in SI]; lra. }
      set (w := if xorb (neg y) (neg c) then other_lost d n else same_lost d n) in *.
      exists (IZR (w + k) * bp g). pose proof (side_in c ps y Hy Sy) as SI.
      assert (Q : bp g <= bp (- frame_bits d) * (if xorb (neg y) (neg c) then A else T)).
      { replace (bp g) with (bp (- frame_bits d) * bp (exp y)) by (rewrite <- bpow_plus; f_equal; lia). apply Rmult_le_compat_l; [apply bpow_ge_0|].
        destruct (xorb (neg y) (neg c)); unfold A, T; lra. }
      split; [|split].
      * rewrite plus_IZR, Rmult_plus_distr_r. apply within_plus; [exact (W2 y Hy E)|exact Ck].
      * apply Rmult_le_pos; [|lra]. unfold w. destruct (xorb (neg y) (neg c)); [exact O0|exact S0].
      * unfold w, sl, ol in *. destruct (xorb (neg y) (neg c)).
        -- pose proof (Rmult_le_compat_l _ _ _ O0 Q). lra.
        -- pose proof (Rmult_le_compat_l _ _ _ S0 Q). lra.
Qed.

(** ** With the roundings *)

(** What the roundings lose together: of what they round, and beside. *)
Definition frame_share (d : frame) : R :=
  match first_rounding d with Some f => (1 + share f) * (1 + share (frame_out d)) - 1 | None => share (frame_out d) end.
Definition frame_flush (d : frame) : R :=
  match first_rounding d with Some f => (1 + share (frame_out d)) * flush_loss f | None => 0 end + flush_loss (frame_out d).

Lemma frame_rounded d y : framed_ok d = true -> Rabs (frame_rnd d y - y) <= frame_share d * Rabs y + frame_flush d.
Proof.
  intros O. unfold framed_ok in O. repeat rewrite andb_true_iff in O. destruct O as [[[P Pf] _] _].
  assert (Pp : forall c, monotone_conv c = true -> (0 <= p c)%Z) by (intros c M; unfold monotone_conv in M; apply andb_prop in M; lia).
  unfold frame_rnd, frame_share, frame_flush. destruct (first_rounding d) as [f|].
  - pose proof (flushed_loss f y (Pp f Pf)) as L1. set (y1 := flushed_rnd f y) in *. pose proof (flushed_loss (frame_out d) y1 (Pp _ P)) as L2.
    pose proof (share_pos (frame_out d)) as S1. assert (Y1 : Rabs y1 <= (1 + share f) * Rabs y + flush_loss f).
    { replace y1 with (y + (y1 - y)) by ring. eapply Rle_trans; [apply Rabs_triang|]. lra. }
    replace (flushed_rnd (frame_out d) y1 - y) with ((flushed_rnd (frame_out d) y1 - y1) + (y1 - y)) by ring.
    eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rmult_le_compat_l _ _ _ (Rlt_le _ _ S1) Y1). lra.
  - rewrite Rplus_0_l. exact (flushed_loss (frame_out d) y (Pp _ P)).
Qed.

Lemma frame_share_pos d : 0 <= frame_share d.
Proof.
  unfold frame_share. pose proof (share_pos (frame_out d)). destruct (first_rounding d) as [f|]; [|lra]. pose proof (share_pos f). nra.
Qed.

Lemma flush_pos d : 0 <= frame_flush d.
Proof.
  unfold frame_flush. pose proof (share_pos (frame_out d)). pose proof (flush_loss_pos (frame_out d)). destruct (first_rounding d) as [f|]; [|lra].
  pose proof (flush_loss_pos f). nra.
Qed.

(** The constants of a block: what it loses of the products of c's sign, of the others, and of c, against c's sign, and along it, of
    the products and of c. *)
Record sided := { of_same : R; of_others : R; of_c_against : R; along : R; of_c_along : R }.

(** What [l] lost units come to after the roundings, against c's sign and along it. *)
Definition after_rounding (r l : R) : R := (1 + l) * (1 + r) - 1.
Definition along_rounding (d : frame) (l : R) : R := if complement d then (1 + l) * frame_share d else after_rounding (frame_share d) l.

Definition frame_sides (d : frame) (n : Z) (zero : bool) : sided :=
  let k := c_lost_at_most zero in
  let unit := bp (- frame_bits d) in
  let c := IZR (all_lost d n) * bp (- Design.c_bits d) in
  {| of_same := after_rounding (frame_share d) (IZR (same_lost d n + k) * unit);
     of_others := after_rounding (frame_share d) (IZR (other_lost d n + k) * unit);
     of_c_against := after_rounding (frame_share d) c;
     along := along_rounding d (IZR (other_lost d n + k) * unit);
     of_c_along := along_rounding d c |}.
Definition frame_eta (d : frame) (n e0 : Z) : R := (1 + frame_share d) * (IZR (all_lost d n + 1) * bp (frame_floor d e0)) + frame_flush d.

Lemma lost_order d n : framed_ok d = true -> (0 <= n)%Z -> (same_lost d n <= other_lost d n)%Z /\ (0 <= all_lost d n)%Z.
Proof.
  intros O N. assert (G : forall size, group_size d = Some size -> (0 <= group_units (Z.of_nat size) n)%Z).
  { intros size G. unfold framed_ok in O. rewrite G in O. repeat rewrite andb_true_iff in O. destruct O as [[_ O] _]. apply Nat.ltb_lt in O.
    unfold group_units. apply Z.mul_nonneg_nonneg; [|lia]. apply Z.div_pos; lia. }
  unfold other_lost, same_lost, all_lost. destruct (group_size d) as [size|]; [specialize (G size eq_refl)|]; destruct (complement d); lia.
Qed.

(** What one block loses, on either side. *)
Theorem framed_sides d e0 ps c n zero z : framed_ok d = true -> zeros_bounded d = true -> (0 <= n)%Z -> (Z.of_nat (length ps) <= n)%Z ->
  Forall (fun x => (0 <= sig x)%Z /\ settled (frame_bits d) x /\ normal x) ps ->
  (0 <= sig c)%Z -> settled (Design.c_bits d) c -> floored e0 c -> (zero = true -> is_zero c = true) -> framed_sum d ps c = Num z ->
  let r := frame_sides d n zero in let h := frame_eta d n e0 in
  - (of_same r * towards c (magnitude ps) (exact_sum ps) + of_others r * against c (magnitude ps) (exact_sum ps) + of_c_against r * Rabs (V c)) - h <=
    direction c * (V z - (V c + exact_sum ps)) <= along r * magnitude ps + of_c_along r * Rabs (V c) + h.
Proof.
  intros O Zo N0 N F Sc Fc Flc Zc H r h. destruct (framed_value d ps c z O H) as [x [Vz X]].
  destruct (framed_loss d e0 ps c n zero O Zo N0 N F Sc Fc Flc Zc x X) as [u [W [U0 U]]].
  destruct (sides_pos c ps) as [T0 A0]. assert (TA : towards c (magnitude ps) (exact_sum ps) + against c (magnitude ps) (exact_sum ps) = magnitude ps) by (unfold towards, against; lra).
  pose proof (exact_sum_abs ps) as Es. set (T := towards c (magnitude ps) (exact_sum ps)) in *. set (A := against c (magnitude ps) (exact_sum ps)) in *.
  set (m := magnitude ps) in *. set (s := exact_sum ps) in *. pose proof (frame_share_pos d) as S0. pose proof (flush_pos d) as L0. set (q := frame_share d) in *.
  unfold r, h, frame_sides, frame_eta. cbn [of_same of_others of_c_against along of_c_along]. fold q.
  set (ls := IZR (same_lost d n + c_lost_at_most zero) * bp (- frame_bits d)) in *. set (lo := IZR (other_lost d n + c_lost_at_most zero) * bp (- frame_bits d)) in *.
  set (lc := IZR (all_lost d n) * bp (- Design.c_bits d)) in *. set (h0 := IZR (all_lost d n + 1) * bp (frame_floor d e0)) in *.
  destruct (lost_order d n O N0) as [Or Al]. assert (SO : ls <= lo) by (apply Rmult_le_compat_r; [apply bpow_ge_0|]; apply IZR_le; lia).
  assert (H0 : 0 <= h0) by (apply Rmult_le_pos; [apply IZR_le; lia|apply bpow_ge_0]).
  assert (LC : 0 <= lc) by (apply Rmult_le_pos; [now apply IZR_le|apply bpow_ge_0]).
  pose proof (frame_rounded d (s + V c + x) O) as R. rewrite <- Vz in R. fold q in R.
  assert (Xu : Rabs x <= u).
  { unfold within, direction in W. apply Rabs_le. destruct (neg c), (complement d); lra. }
  assert (Y : Rabs (s + V c + x) <= m + Rabs (V c) + u).
  { eapply Rle_trans; [apply Rabs_triang|]. pose proof (Rabs_triang s (V c)). lra. }
  pose proof (Rmult_le_compat_l q _ _ S0 Y) as QY. pose proof (Rmult_le_compat_l q _ _ S0 U) as QU.
  set (e := V z - (s + V c + x)) in *.
  assert (E : direction c * (V z - (V c + s)) = direction c * e + direction c * x) by (unfold e; ring). rewrite E.
  assert (De : - Rabs e <= direction c * e <= Rabs e).
  { unfold direction. destruct (Rabs_le_inv e (Rabs e) (Rle_refl _)) as [I1 I2]. destruct (neg c); lra. }
  pose proof (Rmult_le_compat_r T _ _ T0 SO) as ST. pose proof (Rmult_le_compat_l q _ _ S0 ST) as QST.
  unfold after_rounding, along_rounding. fold q. unfold within in W. pose proof (Rmult_le_pos _ _ S0 H0). rewrite <- TA in *.
  destruct (complement d) eqn:C.
  - split; lra.
  - split; [lra|]. unfold after_rounding. lra.
Qed.

(** * How errors grow from block to block, where more is lost against the sign of c than along it *)

(** A value that is too small by x of the positive terms and y of the negative ones at most, and too large by y and x; [a]: their
    magnitudes, [s]: their sum. *)
Definition sides (x y j a s v : R) : Prop :=
  - (x * ((a + s) / 2) + y * ((a - s) / 2)) - j <= v - s <= y * ((a + s) / 2) + x * ((a - s) / 2) + j.

Lemma sides_bound x y j a s v : 0 <= x -> 0 <= y -> Rabs s <= a -> sides x y j a s v -> Rabs (v - s) <= Rmax x y * a + j.
Proof.
  intros X Y S [L R]. apply Rabs_le_inv in S. pose proof (Rmax_l x y) as M1. pose proof (Rmax_r x y) as M2. set (m := Rmax x y) in *.
  assert (P : 0 <= (a + s) / 2) by lra. assert (Q : 0 <= (a - s) / 2) by lra.
  pose proof (Rmult_le_compat_r _ _ _ P M1). pose proof (Rmult_le_compat_r _ _ _ P M2). pose proof (Rmult_le_compat_r _ _ _ Q M1). pose proof (Rmult_le_compat_r _ _ _ Q M2).
  apply Rabs_le. split; lra.
Qed.

(** One block more. *)
Lemma sides_step r h x y j a s v p t z x' y' (neg : bool) : 0 <= x <= 1 -> 0 <= y -> 0 <= j -> Rabs s <= a -> Rabs t <= p ->
  0 <= of_c_along r <= of_c_against r ->
  x + (1 + y) * of_c_against r <= x' -> of_same r <= x' -> along r <= x' ->
  (1 + y) * (1 + of_c_along r) - 1 <= y' -> of_others r <= y' -> along r <= y' ->
  (if neg then -1 else 1) * v = Rabs v ->
  (let g := if neg then -1 else 1 in
   - (of_same r * ((p + g * t) / 2) + of_others r * ((p - g * t) / 2) + of_c_against r * Rabs v) - h <= g * (z - (v + t)) <= along r * p + of_c_along r * Rabs v + h) ->
  sides x y j a s v -> sides x' y' ((1 + of_c_against r) * j + h) (a + p) (s + t) z.
Proof.
  intros X Y J S T [K0 K1] X1 X2 X3 Y1 Y2 Y3 D B [L R]. apply Rabs_le_inv in S, T.
  set (P := (a + s) / 2) in *. set (M := (a - s) / 2) in *. set (P' := (p + t) / 2). set (M' := (p - t) / 2).
  assert (P0 : 0 <= P) by (unfold P; lra). assert (M0 : 0 <= M) by (unfold M; lra). assert (P0' : 0 <= P') by (unfold P'; lra). assert (M0' : 0 <= M') by (unfold M'; lra).
  assert (Ea : s = P - M) by (unfold P, M; lra). assert (Et : t = P' - M') by (unfold P', M'; lra). assert (Ep : p = P' + M') by (unfold P', M'; lra).
  unfold sides. replace ((a + p + (s + t)) / 2) with (P + P') by (unfold P, P'; lra). replace ((a + p - (s + t)) / 2) with (M + M') by (unfold M, M'; lra).
  set (ks := of_same r) in *. set (ko := of_others r) in *. set (kc := of_c_against r) in *. set (ap := along r) in *. set (ac := of_c_along r) in *.
  assert (Y' : y <= y') by nra. assert (X' : x <= x') by nra.
  (* |c| is at most what the side of its sign can be *)
  assert (Big : Rabs v <= (1 + y) * (if neg then M else P) + j).
  { destruct neg; rewrite <- D; nra. }
  pose proof (Rmult_le_compat_l kc _ _ ltac:(lra) Big) as KB. pose proof (Rmult_le_compat_l ac _ _ K0 Big) as AB.
  assert (AJ : ac * j <= kc * j) by (apply Rmult_le_compat_r; lra).
  pose proof (Rmult_le_compat_r P' _ _ P0' X2). pose proof (Rmult_le_compat_r M' _ _ M0' X2). pose proof (Rmult_le_compat_r P' _ _ P0' X3). pose proof (Rmult_le_compat_r M' _ _ M0' X3).
  pose proof (Rmult_le_compat_r P' _ _ P0' Y2). pose proof (Rmult_le_compat_r M' _ _ M0' Y2). pose proof (Rmult_le_compat_r P' _ _ P0' Y3). pose proof (Rmult_le_compat_r M' _ _ M0' Y3).
  pose proof (Rmult_le_compat_r P _ _ P0 X1). pose proof (Rmult_le_compat_r M _ _ M0 X1). pose proof (Rmult_le_compat_r P _ _ P0 Y1). pose proof (Rmult_le_compat_r M _ _ M0 Y1).
  pose proof (Rmult_le_compat_r P _ _ P0 X'). pose proof (Rmult_le_compat_r M _ _ M0 X'). pose proof (Rmult_le_compat_r P _ _ P0 Y'). pose proof (Rmult_le_compat_r M _ _ M0 Y').
  destruct neg; cbv zeta in B; rewrite Ep, Et in *; replace ((P' + M' + -1 * (P' - M')) / 2) with M' in * by lra.
  - replace ((P' + M' - -1 * (P' - M')) / 2) with P' in B by lra. destruct B as [B1 B2]. split; lra.
  - replace ((P' + M' + 1 * (P' - M')) / 2) with P' in B by lra. replace ((P' + M' - 1 * (P' - M')) / 2) with M' in B by lra. destruct B as [B1 B2]. split; lra.
Qed.

(** The constant after m blocks more than the first, from x and y of that: κ a block of c against its sign, λ along it. *)
Definition grown_same (x y k : R) (m : nat) : R := x + (1 + y) * ((1 + k) ^ m - 1).
Definition grown (x y k l : R) (m : nat) : R :=
  if Rle_dec (grown_same x y k m) 1 then Rmax (grown_same x y k m) ((1 + y) * (1 + l) ^ m - 1) else (1 + y) * (1 + k) ^ m - 1.

Section Grown.
Variables (d : design) (value_in : element -> R) (block_in : list element -> Prop) (c_in : num -> Prop) (r : sided) (h x y : R).
Let k := of_c_against r.
Let l := of_c_along r.
Let X := grown_same x y k.
Let Y m := (1 + y) * (1 + l) ^ m - 1.
Hypothesis (H : 0 <= h) (K : 0 <= l <= k) (Xy : 0 <= x <= y)
  (Same : of_same r <= X 1) (Along : along r <= X 1) (Others : of_others r <= Y 1) (Along' : along r <= Y 1)
  (Step : forall b c z, block_in b -> c_in c -> block_value d (Num c) b = Num z ->
    let a := Rsum (map (fun e => Rabs (value_in e)) b) in let s := Rsum (map value_in b) in
    c_in z /\ direction c * V c = Rabs (V c) /\
    - (of_same r * towards c a s + of_others r * against c a s + k * Rabs (V c)) - h <= direction c * (V z - (V c + s)) <= along r * a + l * Rabs (V c) + h)
  (Stays : forall v b, block_in b -> is_num v = false -> is_num (block_value d v b) = false).

Lemma grown_rises m : X m <= X (S m) /\ Y m <= Y (S m) /\ 0 <= X m /\ 0 <= Y m /\ X 1 <= X (S m) /\ Y 1 <= Y (S m).
Proof.
  pose proof (pow_ge_1 k m ltac:(lra)) as P. pose proof (pow_ge_1 l m ltac:(lra)) as Q. unfold X, Y, grown_same. cbn [pow].
  assert (0 <= (1 + y) * (k * (1 + k) ^ m)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
  assert (0 <= (1 + y) * (l * (1 + l) ^ m)) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
  assert (0 <= (1 + y) * ((1 + k) ^ m - 1)) by (apply Rmult_le_pos; lra). assert (0 <= (1 + y) * ((1 + l) ^ m - 1)) by (apply Rmult_le_pos; lra).
  assert (0 <= (1 + y) * ((1 + k) * ((1 + k) ^ m - 1))) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
  assert (0 <= (1 + y) * ((1 + l) * ((1 + l) ^ m - 1))) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]).
  repeat split; lra.
Qed.

Lemma sides_grow bs : forall i c z s a j, Forall block_in bs -> c_in c -> Rabs s <= a -> 0 <= j -> X (i + length bs) <= 1 ->
  sides (X i) (Y i) j a s (V c) -> in_turn d bs (Num c) = Num z ->
  sides (X (i + length bs)) (Y (i + length bs)) ((1 + k) ^ length bs * j + h * geometric k (length bs))
    (a + Rsum (map (fun e => Rabs (value_in e)) (concat bs))) (s + Rsum (map value_in (concat bs))) (V z).
Proof.
  induction bs as [|b q IH]; intros i c z s a j F Cc Sa J X1 Sd R.
  - cbn in R. injection R as <-. cbn. rewrite Nat.add_0_r, !Rplus_0_r, Rmult_1_l, Rmult_0_r, Rplus_0_r. exact Sd.
  - apply Forall_cons_iff in F. destruct F as [Fb Fq]. unfold in_turn in R. cbn [fold_left] in R. fold (in_turn d q (block_value d (Num c) b)) in R.
    assert (Nn : is_num (block_value d (Num c) b) = true).
    { destruct (is_num (block_value d (Num c) b)) eqn:N; auto. pose proof (stays_in_turn d block_in Stays q _ Fq N) as Q. rewrite R in Q. discriminate Q. }
    destruct (block_value d (Num c) b) as [w| |] eqn:Ew; try discriminate. destruct (Step b c w Fb Cc Ew) as [Cw [Dc Sw]].
    set (t := Rsum (map value_in b)) in *. set (p := Rsum (map (fun e => Rabs (value_in e)) b)) in *.
    assert (Tp : Rabs t <= p) by (unfold t, p; apply (sum_size value_in)).
    cbn [length] in X1. replace (i + S (length q))%nat with (S i + length q)%nat in X1 by lia.
    assert (Xi : X (S i) <= 1). { revert X1. generalize (length q) as n. induction n as [|n IHn]; intros X1; [now rewrite Nat.add_0_r in X1|]. apply IHn.
      replace (S i + S n)%nat with (S (S i + n)) in X1 by lia. pose proof (proj1 (grown_rises (S i + n))). lra. }
    destruct (grown_rises i) as [M1 [M2 [M3 [M4 [M5 M6]]]]].
    assert (Sd' : sides (X (S i)) (Y (S i)) ((1 + k) * j + h) (a + p) (s + t) (V w)).
    { apply (sides_step r h (X i) (Y i) j a s (V c) p t (V w) (X (S i)) (Y (S i)) (neg c)); auto; try lra.
      - fold k. unfold X, Y, grown_same. cbn [pow]. pose proof (pow_incr (1 + l) (1 + k) i ltac:(lra)) as I.
        assert (0 <= (1 + y) * (k * ((1 + k) ^ i - (1 + l) ^ i))) by (apply Rmult_le_pos; [lra|apply Rmult_le_pos; lra]). lra.
      - fold l. unfold Y. cbn [pow]. lra. }
    replace (i + length (b :: q))%nat with (S i + length q)%nat by (cbn [length]; lia). cbn [concat length]. rewrite !map_app, !Rsum_app. fold t p.
    rewrite <- !Rplus_assoc.
    replace ((1 + k) ^ S (length q) * j + h * geometric k (S (length q))) with ((1 + k) ^ length q * ((1 + k) * j + h) + h * geometric k (length q))
      by (cbn [pow geometric]; ring).
    apply (IH (S i) w); auto.
    + eapply Rle_trans; [apply Rabs_triang|]. lra.
    + nra.
Qed.

(** From a first block that loses x, y and j. *)
Theorem sided_growth bs c z s a j : Forall block_in bs -> c_in c -> Rabs s <= a -> 0 <= j -> sides x y j a s (V c) -> in_turn d bs (Num c) = Num z ->
  Rabs (V z - (s + Rsum (map value_in (concat bs)))) <=
    grown x y k l (length bs) * (a + Rsum (map (fun e => Rabs (value_in e)) (concat bs))) + ((1 + k) ^ length bs * j + h * geometric k (length bs)).
Proof.
  intros F Cc Sa J Sd R.
  assert (Sum : Rabs (s + Rsum (map value_in (concat bs))) <= a + Rsum (map (fun e => Rabs (value_in e)) (concat bs))).
  { eapply Rle_trans; [apply Rabs_triang|]. pose proof (sum_size value_in (concat bs)). lra. }
  unfold grown. destruct (Rle_dec (grown_same x y k (length bs)) 1) as [Le|_].
  - destruct (grown_rises (length bs)) as [_ [_ [X0 [Y0 _]]]]. apply sides_bound; auto.
    apply (sides_grow bs 0 c z s a j); auto. unfold X, Y, grown_same. cbn [pow].
    replace (x + (1 + y) * (1 - 1)) with x by ring. replace ((1 + y) * 1 - 1) with y by ring. exact Sd.
  - unfold X, Y, grown_same in Same, Along, Others, Along'. cbn [pow] in Same, Along, Others, Along'.
    assert (Yk : (1 + y) * l <= (1 + y) * k) by (apply Rmult_le_compat_l; lra).
    assert (Yk0 : 0 <= (1 + y) * k) by (apply Rmult_le_pos; lra).
    apply (blocks_grow d value_in block_in c_in ((1 + y) * (1 + k) - 1) k h) with (x := c); auto; try lra.
    + intros b q w Hb Hc Hw. destruct (Step b q w Hb Hc Hw) as [Cw [Dq Sw]]. split; [exact Cw|].
      set (t := Rsum (map value_in b)) in *. set (p := Rsum (map (fun e => Rabs (value_in e)) b)) in *.
      assert (Tp : Rabs t <= p) by (unfold t, p; apply (sum_size value_in)). apply Rabs_le_inv in Tp.
      assert (T0 : 0 <= towards q p t /\ 0 <= against q p t /\ towards q p t + against q p t = p) by (unfold towards, against, direction; destruct (neg q); lra).
      destruct T0 as [T0 [A0 TA]]. set (m := (1 + y) * (1 + k) - 1) in *. pose proof (Rabs_pos (V q)) as Q0.
      assert (M1 : of_same r <= m) by (unfold m; lra). assert (M2 : of_others r <= m) by (unfold m; lra). assert (M3 : along r <= m) by (unfold m; lra).
      pose proof (Rmult_le_compat_r _ _ _ T0 M1). pose proof (Rmult_le_compat_r _ _ _ A0 M2). pose proof (Rmult_le_compat_r p _ _ ltac:(lra) M3).
      pose proof (Rmult_le_compat_r _ _ _ Q0 (proj2 K)). assert (MP : m * p = m * towards q p t + m * against q p t) by (rewrite <- TA at 1; ring).
      set (T := towards q p t) in *. set (A := against q p t) in *. unfold direction in Sw. apply Rabs_le. destruct (neg q); lra.
    + apply (sides_bound x y j a s) in Sd; try lra. rewrite Rmax_right in Sd by lra. exact Sd.
Qed.
End Grown.

(** * Designs *)

Definition frame_of (d : design) : option frame :=
  match sums d, cutting_of d, skips d with Framed f, Whole, false => Some f | _, _, _ => None end.

(** ** The constants in fixed point *)

Definition share_factor (c : conversion) : Z := (one + 2 ^ (width - (p c + near_share c)))%Z.
Definition rounding_factor (f : frame) : Z :=
  match first_rounding f with Some g => up (share_factor g * share_factor (frame_out f)) width | None => share_factor (frame_out f) end.
Definition units_factor (n b : Z) : Z := (one + n * 2 ^ (width - b))%Z.
Definition loss_against (f : frame) (n b : Z) : Z := (up (units_factor n b * rounding_factor f) width - one)%Z.
Definition loss_along (f : frame) (n b : Z) : Z :=
  if complement f then up (units_factor n b * (rounding_factor f - one)) width else loss_against f n b.

(** What a block loses at most: of the products of c's sign, of the others, of c, and along that sign, of the products and of c. *)
Definition frame_losses (f : frame) (n : Z) (zero : bool) : Z * Z * Z * Z * Z :=
  let k := c_lost_at_most zero in
  (loss_against f (same_lost f n + k) (frame_bits f), loss_against f (other_lost f n + k) (frame_bits f), loss_against f (all_lost f n) (Design.c_bits f),
   loss_along f (other_lost f n + k) (frame_bits f), loss_along f (all_lost f n) (Design.c_bits f)).

(** The constants [x] and [y] of a first block, from c = 0 or any, and [k] and [l] of c in later ones, for which [grown] is a bound. *)
Definition frame_grows (f : frame) (n : Z) (zero : bool) (x y k l : Z) : bool :=
  let '(s, o, c, a, ac) := frame_losses f n false in
  let '(s0, o0, c0, a0, ac0) := frame_losses f n zero in
  (0 <=? l)%Z && (ac <=? l)%Z && (c <=? k)%Z && (l <=? k)%Z && (0 <=? x)%Z && (x <=? y)%Z &&
  (s0 <=? x)%Z && (a0 <=? x)%Z && (o0 <=? y)%Z && (zero || (c0 <=? x)%Z && (ac0 <=? x)%Z) &&
  ((s - x) * one <=? (one + y) * k)%Z && ((a - x) * one <=? (one + y) * k)%Z &&
  ((o + one) * one <=? (one + y) * (one + l))%Z && ((a + one) * one <=? (one + y) * (one + l))%Z.

Definition frame_least (d : design) (f : frame) : Z := Z.max (emin (frame_out f)) (least (c_format d)).

Definition frames_ok (d : design) (zero : bool) (x y k l : Z) : bool :=
  match frame_of d, term_facts d with
  | Some f, Some t =>
      framed_ok f && zeros_bounded f && (0 <=? bits t)%Z && (bits t <=? frame_bits f)%Z && (emin (frame_out f) <=? emax (frame_out f))%Z &&
      (p (frame_out f) <=? Design.c_bits f)%Z && format_ok (c_format d) && (fbits (c_format d) <=? Design.c_bits f)%Z && (0 <? Z.of_nat (block d))%Z &&
      match c_rule d with Kept => true | HiddenBit => false | _ => flushes (frame_out f) end && negb (odd_first d) && match composed d with None => true | _ => false end &&
      (frame_bits f <=? width)%Z && (Design.c_bits f <=? width)%Z && (p (frame_out f) + near_share (frame_out f) <=? width)%Z &&
      match first_rounding f with Some g => (p g + near_share g <=? width)%Z | None => true end &&
      frame_grows f (Z.of_nat (block d)) zero x y k l
  | _, _ => false
  end.

Lemma fix_power_share c : (p c + near_share c <=? width)%Z = true -> fixed (share_factor c) = 1 + share c.
Proof. intros H. apply Z.leb_le in H. unfold share_factor. now rewrite fix_plus, fix_one, <- share_fixed. Qed.

Lemma fix_units n b : (b <= width)%Z -> fixed (units_factor n b) = 1 + IZR n * bp (- b).
Proof.
  intros B. unfold units_factor. rewrite fix_plus, fix_one, <- fix_times, fix_power by lia. do 3 f_equal. lia.
Qed.

Lemma fix_minus x y : fixed (x - y) = fixed x - fixed y.
Proof. unfold fixed. rewrite minus_IZR. ring. Qed.

Section Losses.
Variable (f : frame).
Hypothesis (O : framed_ok f = true) (W : (frame_bits f <= width)%Z) (Wc : (Design.c_bits f <= width)%Z) (Wo : (p (frame_out f) + near_share (frame_out f) <=? width)%Z = true)
  (Wf : match first_rounding f with Some g => (p g + near_share g <=? width)%Z | None => true end = true).

Lemma rounding_fixed : 1 + frame_share f <= fixed (rounding_factor f).
Proof.
  unfold frame_share, rounding_factor. destruct (first_rounding f) as [g|]; [|rewrite fix_power_share by auto; lra].
  pose proof (fix_up (share_factor g) (share_factor (frame_out f))) as U. rewrite !fix_power_share in U by auto. lra.
Qed.

Lemma against_fixed n b : (0 <= n)%Z -> (b <= width)%Z -> after_rounding (frame_share f) (IZR n * bp (- b)) <= fixed (loss_against f n b).
Proof.
  intros N B. unfold after_rounding, loss_against. rewrite fix_minus, fix_one. pose proof (fix_up (units_factor n b) (rounding_factor f)) as U.
  rewrite fix_units in U by auto. pose proof rounding_fixed as R. pose proof (bpow_ge_0 radix2 (- b)) as P. apply IZR_le in N.
  assert (Q : 0 <= 1 + IZR n * bp (- b)) by (pose proof (Rmult_le_pos _ _ N P); lra). pose proof (Rmult_le_compat_l _ _ _ Q R). lra.
Qed.

Lemma along_fixed n b : (0 <= n)%Z -> (b <= width)%Z -> along_rounding f (IZR n * bp (- b)) <= fixed (loss_along f n b).
Proof.
  intros N B. unfold along_rounding, loss_along. destruct (complement f); [|now apply against_fixed].
  pose proof (fix_up (units_factor n b) (rounding_factor f - one)) as U. rewrite fix_units, fix_minus, fix_one in U by auto.
  pose proof rounding_fixed as R. pose proof (bpow_ge_0 radix2 (- b)) as P. apply IZR_le in N.
  assert (Q : 0 <= 1 + IZR n * bp (- b)) by (pose proof (Rmult_le_pos _ _ N P); lra).
  assert (R' : frame_share f <= fixed (rounding_factor f) - 1) by lra. pose proof (Rmult_le_compat_l _ _ _ Q R'). lra.
Qed.

Lemma losses_fixed n zero s o c a ac : (1 <= n)%Z -> frame_losses f n zero = (s, o, c, a, ac) ->
  let r := frame_sides f n zero in
  of_same r <= fixed s /\ of_others r <= fixed o /\ of_c_against r <= fixed c /\ along r <= fixed a /\ of_c_along r <= fixed ac.
Proof.
  intros N E. unfold frame_losses in E. injection E as <- <- <- <- <-. cbn [frame_sides of_same of_others of_c_against along of_c_along].
  destruct (lost_order f n O ltac:(lia)) as [L1 L2].
  assert (L0 : (0 <= same_lost f n)%Z) by (unfold same_lost, all_lost in *; destruct (group_size f); lia).
  assert (k0 : (0 <= c_lost_at_most zero)%Z) by (destruct zero; cbn; lia).
  repeat split; try apply against_fixed; try apply along_fixed; lia.
Qed.
End Losses.

Lemma framed_converted f ps c z : framed_sum f ps c = Num z -> exists s n u, convert (frame_out f) s n u = Num z.
Proof.
  unfold framed_sum. cbv zeta. destruct (first_rounding f) as [g|]; [|eauto]. match goal with |- match ?v with _ => _ end = _ -> _ => destruct v as [y| |] end; try easy.
  unfold round_num, round_to. eauto.
Qed.

Section Frames.
Variables (d : design) (f : frame) (zero : bool) (x y k l : Z).
Hypothesis (Of : frame_of d = Some f) (O : frames_ok d zero x y k l = true).
Let e0 := frame_least d f.
Let n := Z.of_nat (block d).
Let h := frame_eta f n e0.

Lemma frames_parts : exists t, term_facts d = Some t /\ framed_ok f = true /\ zeros_bounded f = true /\ (0 <= bits t <= frame_bits f)%Z /\
  (emin (frame_out f) <= emax (frame_out f))%Z /\ (p (frame_out f) <= Design.c_bits f)%Z /\ format_ok (c_format d) = true /\
  (fbits (c_format d) <= Design.c_bits f)%Z /\ (1 <= n)%Z /\ (c_rule d = Kept \/ (c_rule d <> HiddenBit /\ flushes (frame_out f) = true)) /\ odd_first d = false /\ composed d = None /\
  frame_grows f n zero x y k l = true /\
  (forall i z s o c a ac, (1 <= i)%Z -> frame_losses f i z = (s, o, c, a, ac) -> let r := frame_sides f i z in
    of_same r <= fixed s /\ of_others r <= fixed o /\ of_c_against r <= fixed c /\ along r <= fixed a /\ of_c_along r <= fixed ac).
Proof.
  pose proof O as O'. unfold frames_ok in O'. rewrite Of in O'. destruct (term_facts d) as [t|] eqn:T; [|easy]. exists t. repeat rewrite andb_true_iff in O'.
  destruct O' as [[[[[[[[[[[[[[[[A B] C] D] E] F] G] H] I] J] K] Co] L] M] N] P] Q].
  apply Z.leb_le in C, D, E, F, H, L, M. apply Z.ltb_lt in I. apply negb_true_iff in K. unfold n. repeat split; auto; try lia.
  - destruct (c_rule d); auto; try easy; right; split; auto; easy.
  - now destruct (composed d).
  - eapply losses_fixed; eauto.
  - eapply losses_fixed; eauto.
  - eapply losses_fixed; eauto.
  - eapply losses_fixed; eauto.
  - eapply losses_fixed; eauto.
Qed.

Definition frame_c (c : num) : Prop := flush (c_rule d) (Num c) = Num c /\ (0 <= sig c)%Z /\ settled (Design.c_bits f) c /\ floored e0 c.

Lemma framed_block v b : block_value d v b = on_numbers (fun _ => framed_sum f (map num_of (map (term d) b)) (num_of (flush (c_rule d) v))) (map (term d) b ++ [flush (c_rule d) v]).
Proof.
  destruct frames_parts as [t [T [_ [_ [_ [_ [_ [_ [_ [_ [_ [Od _]]]]]]]]]]]]. unfold frame_of in Of. destruct (sums d) as [| | |g| | | | |] eqn:S; try easy.
  destruct (cutting_of d) eqn:Cu; try easy. destruct (skips d) eqn:Sk; [easy|]. injection Of as ->.
  unfold block_value, skipped. rewrite Sk, S. cbn [andb]. unfold terms. rewrite Cu. cbn [fst snd block_sum]. unfold ordered. rewrite Od.
  rewrite taken_kept by (eapply term_facts_zero; eauto). reflexivity.
Qed.

Lemma frame_stays v b : (block_ok d) b -> is_num v = false -> is_num (block_value d v b) = false.
Proof.
  intros _ N. rewrite framed_block. assert (Fv : flush (c_rule d) v = v) by (destruct v; easy). rewrite Fv. unfold on_numbers.
  destruct (numbers (map (term d) b ++ [v])) as [ts|] eqn:E.
  - destruct (numbers_app _ _ _ E) as [us [c [_ [-> _]]]]. discriminate N.
  - destruct (special_sum _) eqn:Sp; auto. exfalso. now apply (special_not_num _ x0 Sp).
Qed.

Lemma result_c z s i u : convert (frame_out f) s i u = Num z -> frame_c z.
Proof.
  destruct frames_parts as [t [_ [Ok [_ [_ [Em [Pc [_ [_ [_ [Cr _]]]]]]]]]]]. intros H. unfold framed_ok in Ok. repeat rewrite andb_true_iff in Ok. destruct Ok as [[[Mc _] _] _].
  assert (P : (0 <= p (frame_out f))%Z) by (unfold monotone_conv in Mc; apply andb_prop in Mc; lia).
  destruct (convert_shape _ _ _ _ _ P Em H) as [[E1 E2] Sh].
  assert (Sg : (0 <= sig z)%Z) by (destruct Sh as [[_ [? _]]|[_ ->]]; [lia|apply Z.pow_nonneg; lia]).
  split; [|split; [exact Sg|split]].
  - destruct Cr as [->|[Nh Fl]]; [apply flush_kept|]. destruct (Req_dec (V z) 0) as [V0|V0].
    + unfold flush, is_subnormal. now rewrite (V_nothing z V0).
    + exact (flushed_result (frame_out f) s i u z (c_rule d) Mc Em Fl Nh H V0).
  - destruct Sh as [[F _]|[F S]]; [apply short_settled; lia|].
    assert (G : generic_format radix2 (FIX_exp (exp z - p (frame_out f))) (V z)).
    { apply generic_format_FIX. exists (Float radix2 (if neg z then - 2 ^ p (frame_out f) else 2 ^ p (frame_out f)) (exp z - p (frame_out f))); [|reflexivity].
      unfold F2R, V, signed, lsb; simpl. rewrite F, S. replace (exp z - p (frame_out f))%Z with (1 + (exp z - (p (frame_out f) + 1)))%Z by lia.
      rewrite (bpow_plus radix2 1). change (bp 1) with 2.
      assert (T : IZR (2 ^ (p (frame_out f) + 1)) = IZR (2 ^ p (frame_out f)) * 2) by (rewrite Z.pow_add_r, mult_IZR by lia; reflexivity).
      destruct (neg z); rewrite ?opp_IZR, T; ring. }
    unfold settled. eapply generic_inclusion_mag; [|exact G]. intros _. unfold FIX_exp. lia.
  - intros Z. unfold e0, frame_least. destruct Sh as [[F [S1 [S2|S2]]]|[F S]]; [right; lia| |]; left;
      (assert (Nz : normal z); [|now apply Nz]); apply leading_normal; auto; right; rewrite F; [exact S2|]. rewrite S. lia.
Qed.

Lemma frame_step b c z : (block_ok d) b -> frame_c c -> block_value d (Num c) b = Num z -> forall zero', (zero' = true -> is_zero c = true) ->
  let r := frame_sides f n zero' in let a := Rsum (map (fun e => Rabs (term_value d e)) b) in let s := Rsum (map (term_value d) b) in
  frame_c z /\ direction c * V c = Rabs (V c) /\
  - (of_same r * towards c a s + of_others r * against c a s + of_c_against r * Rabs (V c)) - h <= direction c * (V z - (V c + s)) <= along r * a + of_c_along r * Rabs (V c) + h.
Proof.
  intros [Lb [Mb Le]] [Fc [Sc [Stc Flc]]] E zero' Zc r a s. destruct frames_parts as [t [T [Ok [Zo [Bt [Em [Pc [_ [_ [N1 [_ [Od _]]]]]]]]]]]].
  rewrite framed_block, Fc in E. unfold on_numbers in E. destruct (numbers (map (term d) b ++ [Num c])) as [ts|] eqn:Nu; [|exfalso; now apply (special_not_num _ z E)].
  destruct (numbers_app _ _ _ Nu) as [us [c' [_ [Ec Eu]]]]. injection Ec as <-. rewrite Eu in E. rewrite map_map in E. cbn [num_of] in E. rewrite map_id in E.
  assert (F : Forall (fun x => (0 <= sig x)%Z /\ settled (frame_bits f) x /\ normal x) us).
  { apply Forall_forall. intros q Hq. assert (I : In (Num q) (map (term d) b)) by (rewrite Eu; now apply in_map). apply in_map_iff in I. destruct I as [e [Ee He]].
    rewrite Forall_forall in Mb, Le. destruct (term_fit d t (frame_bits f) (low t) 4096 RZ e T (Mb e He) (Le e He) ltac:(lia) ltac:(lia) ltac:(lia) eq_refl q Ee) as [A [B _]].
    split; [|split; auto]. destruct (scaled_has d t e T (Mb e He) q Ee) as [[Q _] _]. exact Q. }
  assert (Ea : a = magnitude us /\ s = exact_sum us).
  { unfold a, s, magnitude, exact_sum, term_value. rewrite <- (map_map (term d) (fun v => Rabs (V (num_of v)))), <- (map_map (term d) (fun v => V (num_of v))), Eu, !map_map. auto. }
  destruct Ea as [-> ->].
  assert (Lu : (Z.of_nat (length us) <= n)%Z) by (rewrite <- (map_length Num us), <- Eu, map_length; unfold n; lia).
  split; [destruct (framed_converted f us c z E) as [? [? [? Cv]]]; eapply result_c; exact Cv|]. split; [now apply V_sign|].
  exact (framed_sides f e0 us c n zero' z Ok Zo ltac:(lia) Lu F Sc Stc Flc Zc E).
Qed.

Lemma start_c w c : decode (c_format d) w = Num c -> forall q, flush (c_rule d) (Num c) = Num q -> frame_c q.
Proof.
  destruct frames_parts as [t [_ [Ok [_ [_ [_ [_ [Fo [Fb [_ [Cr _]]]]]]]]]]]. intros D q Fq.
  assert (Nh : c_rule d <> HiddenBit) by (destruct Cr as [->|[Nh _]]; easy). destruct (decode_num _ _ _ Fo D) as [A [B [C E]]]. pose proof (format_bits _ Fo) as F0.
  assert (Q : q = c \/ sig q = 0%Z).
  { unfold flush in Fq. destruct (negb (is_subnormal c)); [injection Fq as <-; now left|]. destruct (c_rule d); try easy; injection Fq as <-; cbn; auto. }
  split; [rewrite <- Fq; now apply flush_twice|]. destruct Q as [->|Q].
  - split; [lia|]. split; [apply short_settled; lia|]. intros Z. destruct E as [E|E]; [left|right; unfold e0, frame_least; lia].
    assert (Nc : normal c); [|now apply Nc]. apply leading_normal; [lia|]. right. now rewrite B.
  - assert (Zq : is_zero q = true) by (unfold is_zero; now apply Z.eqb_eq). split; [lia|]. split; [now apply zero_settled|]. intros Z. congruence.
Qed.

(** The constants of later blocks as real numbers. *)
Lemma later_sides : exists r, of_c_against r = fixed k /\ of_c_along r = fixed l /\ 0 <= fixed l <= fixed k /\ 0 <= fixed x <= fixed y /\
  of_same r <= grown_same (fixed x) (fixed y) (fixed k) 1 /\ along r <= grown_same (fixed x) (fixed y) (fixed k) 1 /\
  of_others r <= (1 + fixed y) * (1 + fixed l) ^ 1 - 1 /\ along r <= (1 + fixed y) * (1 + fixed l) ^ 1 - 1 /\
  let t := frame_sides f n false in of_same t <= of_same r /\ of_others t <= of_others r /\ of_c_against t <= fixed k /\ along t <= along r /\ of_c_along t <= fixed l.
Proof.
  destruct frames_parts as [t [_ [_ [_ [_ [_ [_ [_ [_ [N1 [_ [_ [_ [G Fx]]]]]]]]]]]]]]. unfold frame_grows in G.
  destruct (frame_losses f n false) as [[[[s o] c] a] ac] eqn:L. destruct (frame_losses f n zero) as [[[[s0 o0] c0] a0] ac0] eqn:L0.
  destruct (Fx n false s o c a ac N1 L) as [F1 [F2 [F3 [F4 F5]]]].
  repeat rewrite andb_true_iff in G. destruct G as [[[[[[[[[[[[[G1 G2] G3] G4] G5] G6] _] _] _] _] G7] G8] G9] G10]. apply Z.leb_le in G1, G2, G3, G4, G5, G6, G7, G8, G9, G10.
  exists {| of_same := fixed s; of_others := fixed o; of_c_against := fixed k; along := fixed a; of_c_along := fixed l |}. cbn [of_same of_others of_c_against along of_c_along].
  assert (M : forall i j u v, (i * j <= u * v)%Z -> fixed i * fixed j <= fixed u * fixed v).
  { intros i j u v Q. apply IZR_le in Q. rewrite !mult_IZR in Q. unfold fixed. pose proof (bpow_ge_0 radix2 (- width)) as B.
    replace (IZR i * bp (- width) * (IZR j * bp (- width))) with (IZR i * IZR j * (bp (- width) * bp (- width))) by ring.
    replace (IZR u * bp (- width) * (IZR v * bp (- width))) with (IZR u * IZR v * (bp (- width) * bp (- width))) by ring.
    apply Rmult_le_compat_r; [now apply Rmult_le_pos|exact Q]. }
  apply M in G7, G8, G9, G10. rewrite fix_minus, fix_plus, fix_one in G7, G8. rewrite !fix_plus, fix_one in G9, G10.
  pose proof (fix_nonneg l G1). pose proof (fix_le _ _ G2). pose proof (fix_le _ _ G3). pose proof (fix_le _ _ G4). pose proof (fix_nonneg x G5). pose proof (fix_le _ _ G6).
  unfold grown_same. rewrite !pow_1. cbv zeta. repeat split; lra.
Qed.

Lemma first_sides b c w : (block_ok d) b -> frame_c c -> (zero = true -> is_zero c = true) -> block_value d (Num c) b = Num w ->
  frame_c w /\ sides (fixed x) (fixed y) h (Rabs (V c) + Rsum (map (fun e => Rabs (term_value d e)) b)) (V c + Rsum (map (term_value d) b)) (V w).
Proof.
  intros Fb Fc Zc E. destruct (frame_step b c w Fb Fc E zero Zc) as [Cw [Dc S]]. split; [exact Cw|].
  destruct frames_parts as [t [_ [_ [_ [_ [_ [_ [_ [_ [N1 [_ [_ [_ [G Fx]]]]]]]]]]]]]]. unfold frame_grows in G.
  destruct (frame_losses f n false) as [[[[s o] c1] a] ac] eqn:L. destruct (frame_losses f n zero) as [[[[s0 o0] c0] a0] ac0] eqn:L0.
  destruct (Fx n zero s0 o0 c0 a0 ac0 N1 L0) as [F1 [F2 [F3 [F4 F5]]]].
  repeat rewrite andb_true_iff in G. destruct G as [[[[[[[[[[[[[_ _] _] _] G5] G6] H1] H2] H3] H4] _] _] _] _]. apply Z.leb_le in G5, G6, H1, H2, H3.
  set (p0 := Rsum (map (fun e => Rabs (term_value d e)) b)) in *. set (t0 := Rsum (map (term_value d) b)) in *.
  assert (Tp : Rabs t0 <= p0) by (unfold t0, p0; apply (sum_size (term_value d))). apply Rabs_le_inv in Tp.
  pose proof (fix_nonneg x G5) as X0. pose proof (fix_le _ _ G6) as XY. pose proof (fix_le _ _ H1) as I1. pose proof (fix_le _ _ H2) as I2. pose proof (fix_le _ _ H3) as I3.
  set (r := frame_sides f n zero) in *. pose proof (Rabs_pos (V c)) as C0.
  assert (T0 : 0 <= towards c p0 t0 /\ 0 <= against c p0 t0) by (unfold towards, against, direction; destruct (neg c); lra). destruct T0 as [T0 A0].
  assert (TA : towards c p0 t0 + against c p0 t0 = p0) by (unfold towards, against; lra).
  assert (Cc : of_c_against r * Rabs (V c) <= fixed x * Rabs (V c) /\ of_c_along r * Rabs (V c) <= fixed x * Rabs (V c)).
  { destruct zero.
    - rewrite (V_zero c (Zc eq_refl)), Rabs_R0, !Rmult_0_r. lra.
    - cbn [orb] in H4. apply andb_prop in H4. destruct H4 as [J1 J2]. apply Z.leb_le in J1, J2. pose proof (fix_le _ _ J1). pose proof (fix_le _ _ J2).
      split; apply Rmult_le_compat_r; lra. }
  assert (D1 : of_same r <= fixed x) by lra. assert (D2 : of_others r <= fixed y) by lra. assert (D3 : along r <= fixed x) by lra.
  pose proof (Rmult_le_compat_r _ _ _ T0 D1) as E1. pose proof (Rmult_le_compat_r _ _ _ A0 D2) as E2. pose proof (Rmult_le_compat_r p0 _ _ ltac:(lra) D3) as E3.
  pose proof (Rmult_le_compat_r _ _ _ T0 XY) as E4. pose proof (Rmult_le_compat_r _ _ _ A0 XY) as E5. pose proof (Rmult_le_compat_r _ _ _ C0 XY) as E6.
  assert (XP : fixed x * p0 = fixed x * towards c p0 t0 + fixed x * against c p0 t0) by (rewrite <- TA at 1; ring).
  set (T := towards c p0 t0) in *. set (A := against c p0 t0) in *. unfold sides.
  destruct (neg c) eqn:Ng; unfold T, A, towards, against, direction in *; rewrite Ng in *.
  - replace ((Rabs (V c) + p0 + (V c + t0)) / 2) with ((p0 - -1 * t0) / 2) by lra. replace ((Rabs (V c) + p0 - (V c + t0)) / 2) with ((p0 + -1 * t0) / 2 + Rabs (V c)) by lra.
    split; lra.
  - replace ((Rabs (V c) + p0 + (V c + t0)) / 2) with ((p0 + 1 * t0) / 2 + Rabs (V c)) by lra. replace ((Rabs (V c) + p0 - (V c + t0)) / 2) with ((p0 - 1 * t0) / 2) by lra.
    split; lra.
Qed.

Lemma words_relative w c z : pairs w <> [] -> Forall (leading_element d) (elements d w) ->
  first_c d w = Num c -> (zero = true -> is_zero c = true) -> value d w = Num z ->
  let m := Nat.pred (length (blocks_of_word d w)) in
  Rabs (V z - (V c + Rsum (map (term_value d) (elements d w)))) <=
    grown (fixed x) (fixed y) (fixed k) (fixed l) m * (Rabs (V c) + Rsum (map (fun e => Rabs (term_value d e)) (elements d w))) +
    ((1 + fixed k) ^ m * h + h * geometric (fixed k) m).
Proof.
  intros Np Le Fc Zc Vz m. destruct frames_parts as [t [_ [Ok [_ [_ [_ [_ [_ [_ [N1 [_ [_ [Co _]]]]]]]]]]]]].
  assert (Bn : (0 < block d)%nat) by (unfold n in N1; lia).
  destruct (leading_blocks d w Bn Le) as [F Cc].
  unfold value in Vz. rewrite Co in Vz. change (in_turn d (blocks_of_word d w) (decode (c_format d) (c_word w)) = Num z) in Vz.
  unfold first_c in Fc. set (v := decode (c_format d) (c_word w)) in *.
  assert (Vn : exists q, v = Num q) by (destruct v; [eauto|discriminate Fc|discriminate Fc]). destruct Vn as [q Vq]. rewrite Vq in *.
  pose proof (start_c (c_word w) q Vq c Fc) as Cr. unfold m. rewrite <- Cc in *. destruct (blocks_of_word d w) as [|b bs].
  { exfalso. pose proof (elements_length d w) as L. rewrite <- Cc in L. cbn in L. destruct (pairs w); [congruence|discriminate L]. }
  apply Forall_cons_iff in F. destruct F as [Fb Fbs]. unfold in_turn in Vz. cbn [fold_left] in Vz.
  assert (Bc : block_value d (Num q) b = block_value d (Num c) b) by (rewrite !framed_block; destruct Cr as [Cf _]; now rewrite Fc, Cf).
  rewrite Bc in Vz. fold (in_turn d bs (block_value d (Num c) b)) in Vz.
  assert (Nn : is_num (block_value d (Num c) b) = true).
  { destruct (is_num (block_value d (Num c) b)) eqn:Nn; auto. pose proof (stays_in_turn d (block_ok d) frame_stays bs _ Fbs Nn) as Q. rewrite Vz in Q. discriminate Q. }
  destruct (block_value d (Num c) b) as [y0| |] eqn:Ey; try discriminate. destruct (first_sides b c y0 Fb Cr Zc Ey) as [Cy Sy].
  destruct later_sides as [r [Rk [Rl [Kl [Xy [S1 [S2 [S3 [S4 [T1 [T2 [T3 [T4 T5]]]]]]]]]]]]].
  assert (h0 : 0 <= h).
  { unfold h, frame_eta. pose proof (frame_share_pos f). pose proof (flush_pos f). pose proof (bpow_ge_0 radix2 (frame_floor f e0)).
    destruct (lost_order f n Ok ltac:(lia)) as [_ Al]. assert (0 <= IZR (all_lost f n + 1)) by (apply IZR_le; lia).
    apply Rplus_le_le_0_compat; auto. apply Rmult_le_pos; [lra|now apply Rmult_le_pos]. }
  cbn [concat length Nat.pred]. rewrite !map_app, !Rsum_app, <- (Rplus_assoc (V c)), <- (Rplus_assoc (Rabs (V c))). rewrite <- Rk, <- Rl.
  apply (sided_growth d (term_value d) (block_ok d) frame_c r h (fixed x) (fixed y)) with (c := y0); rewrite ?Rk, ?Rl; auto.
  - intros b' c' z' Hb Hc Hz a s. destruct (frame_step b' c' z' Hb Hc Hz false ltac:(discriminate)) as [Cz [Dc St]]. split; [exact Cz|]. split; [exact Dc|].
    fold a s in St. assert (Ts : Rabs s <= a) by (unfold a, s; apply (sum_size (term_value d))). apply Rabs_le_inv in Ts.
    assert (T0 : 0 <= towards c' a s /\ 0 <= against c' a s) by (unfold towards, against, direction; destruct (neg c'); lra). destruct T0 as [T0 A0].
    pose proof (Rabs_pos (V c')) as C0.
    pose proof (Rmult_le_compat_r _ _ _ T0 T1). pose proof (Rmult_le_compat_r _ _ _ A0 T2). pose proof (Rmult_le_compat_r _ _ _ C0 T3).
    pose proof (Rmult_le_compat_r a _ _ ltac:(lra) T4). pose proof (Rmult_le_compat_r _ _ _ C0 T5). lra.
  - exact frame_stays.
  - eapply Rle_trans; [apply Rabs_triang|]. pose proof (sum_size (term_value d) b). lra.
Qed.
End Frames.

(** What is lost beside by one block: where the largest exponent is that of a number without a leading bit, or of a zero, and where
    roundings are to subnormal numbers. *)
Definition framed_eta (d : design) : R :=
  match frame_of d with Some f => frame_eta f (Z.of_nat (block d)) (frame_least d f) | None => 0 end.

(** The relative error of a dot product of any length, from words, of products with leading bits: with [zero] from c = 0, else from
    any c. *)
Theorem framed_relative d zero x y k l w c z : frames_ok d zero x y k l = true -> pairs w <> [] -> Forall (leading_element d) (elements d w) ->
  first_c d w = Num c -> (zero = true -> is_zero c = true) -> value d w = Num z ->
  let m := Nat.pred (length (blocks_of_word d w)) in
  Rabs (V z - (V c + Rsum (map (term_value d) (elements d w)))) <=
    grown (fixed x) (fixed y) (fixed k) (fixed l) m * (Rabs (V c) + Rsum (map (fun e => Rabs (term_value d e)) (elements d w))) +
    ((1 + fixed k) ^ m * framed_eta d + framed_eta d * geometric (fixed k) m).
Proof.
  intros O. assert (F : exists f, frame_of d = Some f) by (unfold frames_ok in O; destruct (frame_of d); [eauto|easy]). destruct F as [f F].
  unfold framed_eta. rewrite F. now apply (words_relative d f zero x y k l F O).
Qed.
