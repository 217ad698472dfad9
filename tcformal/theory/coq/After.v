(** c added to the truncated sum of products before that is rounded. *)
From Coq Require Import ZArith List Bool Lia Psatz Reals.
From TC Require Import Spec Theorems Design Rounded Bv Circuit Finish Fused Leaves Stage.
Import ListNotations.
Open Scope Z_scope.

(** The sum of products with its fraction bits, as a number, c, both with their leading ones on top, and the end. *)
Record after := After {
  first : front; first_bits : Z;
  its_products : operand; its_c : operand;
  leads : front; lead_bits : Z;
  last_ending : ending
}.

Section Claims.
Variables (m : widths) (d : sum) (q : after).

Definition first_known : list formula := known (fused_sum d (first_bits q) (first q)).
Definition first_value_claims : list claim :=
  let y := its (its_products q) in
  [Claim [] (finite y);
   Claim first_known (Iff (Is (sign y)) (Less (n_term (first q)) (Num_ 0)));
   Claim first_known (Equal (U (significand y)) (Abs (n_term (first q))));
   Claim first_known (Equal (exponent y) (top_term (first q)))].

Definition lead_pairs : list (operand * number) := combine [its_products q; its_c q] (numbers_of (leads q)).

(** The sign of a sum, with that of a zero: the products' sum has a sign of its own. *)
Definition after_sign : formula :=
  let s := sum_sign_formula d (first q) in
  let zeros := Both (n_zero (first q)) (Iff s (Is (sign (its (its_c q))))) in
  Either (Both (Negation (n_zero (leads q))) (Less (n_term (leads q)) (Num_ 0)))
    (Both (n_zero (leads q)) (Either (Both zeros s) (Both (Negation zeros) (constant (match rho (out d) with RD => true | _ => false end))))).

Definition after_sum : to_round :=
  let x := fused_sum (odd_sum d (lead_bits q)) (lead_bits q) (leads q) in
  ToRound (numbers_of (first q) ++ [its (its_c q)]) (size x) (no_size x) (Finish.down x) (Finish.unit x) (bound x) (known x) after_sign.

Definition after_claims : list claim :=
  front_claims m (fun _ => []) d (first_bits q) (first q) ++ first_value_claims ++
  match lead_pairs with
  | [y; c] => lead_claims_when first_known y ++ lead_claims_when [finite (its (its_c q))] c
  | _ => []
  end ++
  front_claims m (known_of lead_pairs) (odd_sum d (lead_bits q)) (lead_bits q) (leads q) ++
  kept_claims (out d) (last_ending q) after_sum ++ outcome_claims (out d) (last_ending q) after_sum.

Definition after_ok : bool :=
  front_ok m d (first_bits q) (first q) && front_ok m (odd_sum d (lead_bits q)) (lead_bits q) (leads q) && ending_ok m (out d) (last_ending q) &&
  forallb (in_circuit m) (significand (its (its_products q)) :: front_nodes (first q) ++ front_nodes (leads q) ++ ending_nodes (last_ending q)) &&
  (length (numbers_of (leads q)) =? 2)%nat && forallb (lead_ok m (lead_bits q)) lead_pairs && (p (out d) + 2 + deciding_bits (rho (out d)) <=? lead_bits q) &&
  (bits_below (its (its_products q)) =? first_bits q).
End Claims.

(** * What it computes *)

Definition after_numbers (d : sum) (ts : list num) (x : num) : val :=
  let u := unit_of d ts in
  let ns := counts d ts in
  let n := held d (zsum ns) in
  plus (out d) n u (sign_of (rho (out d)) n ts ns) x.
Definition after_value (d : sum) (ps : list val) (c : val) : val := on_numbers (fun _ => after_numbers d (map num_of ps) (num_of c)) (ps ++ [c]).

Lemma block_after d r e fs ps c : block_sum (CAfter d false) r e fs ps c = after_value d ps c.
Proof. unfold block_sum, after_value, after_numbers. reflexivity. Qed.

(** A sum of a count of units and a number: its value, and its sign. *)
Lemma plus_is c n u s x : exists N W, (IZR N * bp W = IZR n * bp u + V x)%R /\
  plus c n u s x = convert c (if negb (N =? 0) then N <? 0 else if (n =? 0) && Bool.eqb s (neg x) then s else match rho c with RD => true | _ => false end) N W.
Proof.
  set (w := Z.min u (lsb x)). exists (n * 2 ^ (u - w) + signed x * 2 ^ (lsb x - w)), w. split.
  - rewrite plus_IZR, !mult_IZR, Rmult_plus_distr_r, <- !bp_Z by lia. unfold V. rewrite !Rmult_assoc, <- !Flocq.Core.Raux.bpow_plus. do 2 f_equal; f_equal; f_equal; lia.
  - unfold plus. fold w. f_equal. unfold sign_of. cbn [forallb existsb neg andb].
    set (a := n * 2 ^ (u - w)). set (b := signed x * 2 ^ (lsb x - w)). destruct (Z.eqb_spec (a + b) 0) as [E|E]; [|reflexivity]. cbn [negb].
    assert (PA : 0 < 2 ^ (u - w)) by (apply pow2_pos; lia).
    assert (ZA : (0 =? a) = (n =? 0)) by (unfold a; destruct (Z.eqb_spec n 0), (Z.eqb_spec 0 (n * 2 ^ (u - w))); auto; nia).
    rewrite ZA. destruct (Z.eqb_spec n 0) as [Q|Q]; cbn [andb]; [|reflexivity].
    assert (A0 : a = 0) by (unfold a; lia). assert (B0 : b = 0) by lia. rewrite B0. cbn [andb Z.eqb]. rewrite !andb_true_r, orb_false_r.
    destruct s, (neg x); reflexivity.
Qed.

Lemma plus_same c n u s x y : same x y -> plus c n u s x = plus c n u s y.
Proof.
  intros [A [_ B]]. destruct (plus_is c n u s x) as [N [W [E ->]]]. destruct (plus_is c n u s y) as [N' [W' [E' ->]]]. rewrite B, <- E' in E.
  apply convert_ext; auto. now rewrite A, (scaled_zero _ _ _ _ E), (scaled_neg _ _ _ _ E).
Qed.

Lemma num_of_same vs ws : Forall2 same_val vs ws -> numbers vs = None \/ Forall2 same (map num_of vs) (map num_of ws).
Proof.
  intros F. unfold numbers. destruct (forallb is_num vs) eqn:Q; [right|now left]. revert Q. induction F as [|a b l k H F IH]; intros Q; [constructor|]. cbn [forallb map] in *. apply andb_prop in Q. destruct Q as [Q1 Q2].
  constructor; auto. destruct a, b; easy.
Qed.

Lemma numbers_some vs ws : Forall2 same_val vs ws -> forallb is_num vs = forallb is_num ws.
Proof. induction 1 as [|a b l k H F IH]; auto. cbn. rewrite IH. now destruct a, b. Qed.

Lemma special_same vs ws : Forall2 same_val vs ws -> special_sum vs = special_sum ws.
Proof.
  intros F. assert (Y : forall q : val -> bool, (forall x y, q (Num x) = q (Num y)) -> existsb q vs = existsb q ws).
  { intros q Hq. clear -F Hq. induction F as [|a b l k H F IH]; simpl; auto. rewrite IH. f_equal. destruct a, b; simpl in H; try contradiction; auto. now subst. }
  unfold special_sum. rewrite !Y by reflexivity. reflexivity.
Qed.

Lemma after_same d ps qs c e : (exists f, fraction_bits d = Some f) -> normalise d = false -> Forall2 same_val ps qs -> same_val c e -> after_value d ps c = after_value d qs e.
Proof.
  intros Fb N F H. assert (FC : Forall2 same_val (ps ++ [c]) (qs ++ [e])) by (apply Forall2_app; auto).
  unfold after_value, on_numbers. unfold numbers. rewrite (numbers_some _ _ FC). destruct (forallb is_num (qs ++ [e])) eqn:Q; [|now apply special_same].
  rewrite forallb_app in Q. apply andb_prop in Q. destruct Q as [Q1 Q2]. cbn [forallb] in Q2. rewrite andb_true_r in Q2.
  assert (SP : Forall2 same (map num_of ps) (map num_of qs)). { destruct (num_of_same ps qs F) as [X|X]; auto. unfold numbers in X. now rewrite (numbers_some _ _ F), Q1 in X. }
  assert (SC : same (num_of c) (num_of e)) by (destruct c, e; easy).
  unfold after_numbers. destruct (same_parts d _ _ N Fb SP) as [U [C S]]. rewrite U, C, S. now apply plus_same.
Qed.

Lemma sign_nonzero r n ts ns : n <> 0 -> sign_of r n ts ns = (n <? 0).
Proof. intros N. unfold sign_of. destruct (Z.eqb_spec n 0); easy. Qed.

Lemma sum_nonzero d ts : total d ts <> 0 -> sum_numbers d ts = convert (out d) (total d ts <? 0) (total d ts) (unit_of d ts).
Proof. intros N. unfold sum_numbers. now rewrite sign_nonzero. Qed.

Lemma same_conversion c Nd Wd N W n2 u2 S : (IZR Nd * bp Wd = IZR N * bp W)%R -> (Nd =? 0) = (n2 =? 0) -> (Nd <? 0) = (n2 <? 0) ->
  (n2 <> 0 -> convert c (Nd <? 0) Nd Wd = convert c (n2 <? 0) n2 u2) -> (n2 <> 0 -> S = (n2 <? 0)) -> convert c S N W = convert c S n2 u2.
Proof.
  intros E Z0 NG H HS. pose proof (scaled_zero _ _ _ _ E) as Q. rewrite Z0 in Q. destruct (Z.eqb_spec n2 0) as [->|NZ].
  - symmetry in Q. apply Z.eqb_eq in Q. rewrite Q. apply convert_zero.
  - rewrite HS by easy. rewrite <- H by easy. rewrite NG. symmetry. now apply convert_ext.
Qed.

Section Sound.
Variables (ct : circuit) (d : sum) (q : after) (v : env).
Let m := widths_of ct.
Hypothesis SOL : solution ct v.
Hypothesis CIRC : circuit_ok ct = true.
Hypothesis OK : after_ok m d q = true.
Hypothesis CL : Forall (holds ct) (after_claims m d q).
Let T := truth m v.
Let c := out d.
Let e := odd_sum d (lead_bits q).
Let C := its (its_c q).
Let Y := its (its_products q).

Lemma after_parts : front_ok m d (first_bits q) (first q) = true /\ front_ok m e (lead_bits q) (leads q) = true /\ ending_ok m c (last_ending q) = true /\
  (forall i, In i (front_nodes (first q)) -> fits m v i) /\ (forall i, In i (front_nodes (leads q)) -> fits m v i) /\ (forall i, In i (ending_nodes (last_ending q)) -> fits m v i) /\
  fits m v (significand Y) /\ p c + 2 + deciding_bits (rho c) <= lead_bits q /\ bits_below Y = first_bits q /\
  exists ly lc, numbers_of (leads q) = [ly; lc] /\ lead_ok m (lead_bits q) (its_products q, ly) = true /\ lead_ok m (lead_bits q) (its_c q, lc) = true.
Proof.
  unfold after_ok in OK. rewrite !andb_true_iff in OK. destruct OK as [[[[[[[A B] E] I] L] LO] P] Q]. rewrite forallb_forall in I. apply Nat.eqb_eq in L. apply Z.leb_le in P. apply Z.eqb_eq in Q.
  assert (F : forall i, In i (significand (its (its_products q)) :: front_nodes (first q) ++ front_nodes (leads q) ++ ending_nodes (last_ending q)) -> fits m v i) by (intros i J; apply (in_map_fits ct v SOL CIRC); now apply I).
  repeat split; auto; try (intros; apply F; right; rewrite !in_app_iff; tauto); try (apply F; now left).
  unfold lead_pairs in LO. destruct (numbers_of (leads q)) as [|ly [|lc [|]]]; try easy. cbn [combine forallb] in LO. rewrite !andb_true_iff in LO. exists ly, lc. tauto.
Qed.

Lemma lead_of f g o l : lead_ok m f (o, l) = true -> in_circuit m (significand l) = true -> Forall (holds ct) (lead_claims_when g (o, l)) ->
  forallb T g = true -> alike (num_in v (its o)) (num_in v l) /\ is_normal (num_in v l) /\ frac (num_in v l) + 2 <= f.
Proof. destruct o as [r z s]. exact (lead_number ct v SOL CIRC f g r z s l). Qed.

Lemma after_finite : Forall (fun r => T (finite r) = true) (numbers_of (first q)) -> T (finite C) = true ->
  exists s n u, after_numbers d (map (num_in v) (numbers_of (first q))) (num_in v C) = convert c s n u /\ finished ct c (last_ending q) (after_sum d q) v s n u.
Proof.
  intros FIN FC. destruct after_parts as [O1 [O2 [OE [N1 [N2 [NE [SY [PF [BY [ly [lc [NL [LY LC]]]]]]]]]]]]].
  pose proof CL as CL'. unfold after_claims, lead_pairs in CL'. rewrite NL in CL'. cbn [combine] in CL'. rewrite !Forall_app in CL'. destruct CL' as [F1 [FV [[L1 L2] [F2 [KC OC]]]]]. unfold front_claims in F1, F2. rewrite Forall_app in F1, F2. destruct F1 as [F1 S1], F2 as [F2 S2_].
  set (ts := map (num_in v) (numbers_of (first q))) in *.
  assert (CX1 : forall a, In a (addends (first q)) -> T (finite (of a)) = true -> forallb T [] = true) by reflexivity.
  pose proof (known_is ct (fun _ => []) d (first_bits q) (first q) v O1 F1 S1 SOL N1 CX1 FIN) as K1.
  pose proof (total_is ct (fun _ => []) d (first_bits q) (first q) v O1 F1 S1 SOL N1 CX1 FIN) as TO. fold ts in TO.
  pose proof (unit_is ct (fun _ => []) d (first_bits q) (first q) v O1 F1 S1 SOL N1 CX1 FIN) as UN. fold ts in UN.
  pose proof (sign_is ct (fun _ => []) d (first_bits q) (first q) v O1 F1 SOL N1 CX1 FIN) as SG. fold ts in SG.
  set (n1 := sg (width_in (widths_of ct) (total_node (first q))) (v (total_node (first q)))) in *. set (E1 := v (top (first q)) + top_low (first q)) in *.
  (* the products' sum as a number *)
  assert (Q : forall k r, nth_error (first_value_claims d q) k = Some r -> forallb T (given r) = true -> T (goal r) = true).
  { intros k r Nt G. rewrite Forall_forall in FV. exact (FV r (nth_error_In _ _ Nt) v SOL G). }
  pose proof (Q 0%nat _ eq_refl eq_refl) as YF. cbn [goal] in YF. fold Y in YF.
  pose proof (Q 1%nat _ eq_refl K1) as Y1. cbn [goal] in Y1. unfold T in Y1. rewrite truth_iff in Y1. apply eqb_prop in Y1. cbn [truth value n_term] in Y1. fold Y in Y1.
  pose proof (Q 2%nat _ eq_refl K1) as Y2. cbn [goal] in Y2. unfold T in Y2. cbn [truth value n_term] in Y2. apply Z.eqb_eq in Y2. fold Y in Y2.
  pose proof (Q 3%nat _ eq_refl K1) as Y3. cbn [goal] in Y3. unfold T in Y3. cbn [truth value exponent top_term] in Y3. apply Z.eqb_eq in Y3. fold Y in Y3. clear Q.
  change (sg (width_in m (total_node (first q))) (v (total_node (first q)))) with n1 in Y1, Y2.
  assert (YV : (IZR n1 * bp (unit_of d ts) = V (num_in v Y))%R).
  { unfold V, signed, lsb, num_in; cbn [neg sig exp frac]. rewrite Y1, Y2, BY. replace (v (code Y) + low Y) with E1 by (unfold E1; lia).
    assert (SN : (if n1 <? 0 then - Z.abs n1 else Z.abs n1) = n1) by (destruct (Z.ltb_spec n1 0); lia). rewrite SN.
    destruct UN as [-> |[-> _]]; [reflexivity|now rewrite !Rmult_0_l]. }
  (* with leading ones *)
  assert (G1 : forallb T (first_known d q) = true) by exact K1.
  assert (G2 : forallb T [finite (its (its_c q))] = true) by (cbn [forallb]; fold C; now rewrite FC).
  assert (ICL : forall l, In l (numbers_of (leads q)) -> in_circuit m (significand l) = true).
  { intros l I. pose proof OK as OK'. unfold after_ok in OK'. rewrite !andb_true_iff in OK'. destruct OK' as [[[[[_ I'] _] _] _] _]. rewrite forallb_forall in I'. apply I'.
    right. rewrite !in_app_iff. right; left. unfold numbers_of in I. apply in_map_iff in I. destruct I as [a [<- A]]. unfold front_nodes. do 2 right. apply in_flat_map. exists a. split; auto. now left. }
  rewrite NL in ICL.
  destruct (lead_of (lead_bits q) (first_known d q) _ ly LY (ICL ly (or_introl eq_refl)) L1 G1) as [A1 [M1 B1]].
  destruct (lead_of (lead_bits q) [finite (its (its_c q))] _ lc LC (ICL lc (or_intror (or_introl eq_refl))) L2 G2) as [A2 [M2 B2]].
  fold Y in A1. fold C in A2.
  set (de := {| fraction_bits := None; alignment := alignment d; zero_exponent := zero_exponent d; carry_bits := None; normalise := normalise d; out := out d |}).
  destruct (exact_two de e (lead_bits q) eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl eq_refl ltac:(cbn; unfold ending_ok in OE; rewrite !andb_true_iff, !Z.leb_le in OE; tauto) PF (num_in v ly) (num_in v lc) M1 M2 B1 B2) as [X1 [X2 X3]].
  (* the second front *)
  assert (FL : Forall (fun r => T (finite r) = true) (numbers_of (leads q))).
  { rewrite NL. unfold lead_ok in LY, LC. cbn [its] in LY, LC. rewrite !andb_true_iff, !Pos.eqb_eq in LY, LC. destruct LY as [[[[[_ Ya] Yb] _] _] _], LC as [[[[[_ Ca] Cb] _] _] _].
    constructor; [|constructor; [|constructor]]; unfold T, finite; cbn [truth]; [rewrite <- Ya, <- Yb; exact YF|rewrite <- Ca, <- Cb; exact FC]. }
  assert (CX2 : forall a, In a (addends (leads q)) -> T (finite (of a)) = true -> forallb T (known_of [(its_products q, ly); (its_c q, lc)] (of a)) = true).
  { intros a A _. cbn [known_of]. destruct (number_eqb ly (of a)); [exact (lead_known ct v SOL (first_known d q) _ ly L1 G1)|]. destruct (number_eqb lc (of a)); [exact (lead_known ct v SOL [finite (its (its_c q))] _ lc L2 G2)|reflexivity]. }
  pose proof (n_is ct _ e (lead_bits q) (leads q) v O2 F2 S2_ SOL N2 CX2 FL) as [_ NB].
  pose proof (known_is ct _ e (lead_bits q) (leads q) v O2 F2 S2_ SOL N2 CX2 FL) as K2.
  pose proof (total_is ct _ e (lead_bits q) (leads q) v O2 F2 S2_ SOL N2 CX2 FL) as TO2.
  destruct (sum_is ct _ e (lead_bits q) (leads q) v O2 F2 S2_ SOL N2 CX2 FL) as [s2 [S2 SM]].
  rewrite NL in TO2, S2, SM. cbn [map] in TO2, S2, SM. rewrite TO2 in X2, X3. rewrite SM in X1.
  assert (EO : out e = c) by reflexivity.
  set (n2 := sg (width_in (widths_of ct) (total_node (leads q))) (v (total_node (leads q)))) in *. set (u2 := v (top (leads q)) + top_low (leads q) - lead_bits q) in *.
  (* the exact sum *)
  assert (HD : held d (zsum (counts d ts)) = n1). { unfold held. rewrite <- TO. unfold total. reflexivity. }
  unfold after_numbers. rewrite HD. rewrite <- SG. fold c.
  destruct (plus_is c n1 (unit_of d ts) (truth (widths_of ct) v (sum_sign_formula d (first q))) (num_in v C)) as [N [W [NV PL]]]. rewrite PL. rewrite YV in NV.
  assert (XD : (IZR (total de [num_in v ly; num_in v lc]) * bp (unit_of de [num_in v ly; num_in v lc]) = IZR N * bp W)%R).
  { assert (TD : total de [num_in v ly; num_in v lc] = zsum (counts de [num_in v ly; num_in v lc])) by (unfold total; reflexivity). rewrite TD, lossless_total.
    - unfold exact_sum. cbn. rewrite NV. destruct A1 as [_ A1], A2 as [_ A2]. rewrite A1, A2. ring.
    - unfold lossless, unit_of. cbn [fraction_bits de]. apply Forall_forall. intros t I _. now apply least_lsb_le. }
  pose proof (scaled_zero _ _ _ _ XD) as NZ. pose proof (scaled_neg _ _ _ _ XD) as NN. rewrite X2 in NZ. rewrite X3 in NN. rewrite <- NZ, <- NN.
  set (S := if negb (n2 =? 0) then n2 <? 0 else _).
  exists S, n2, u2. split.
  - apply (same_conversion c (total de [num_in v ly; num_in v lc]) (unit_of de [num_in v ly; num_in v lc])); auto.
    + intros Nz. rewrite <- (sum_nonzero de) by (intros Q; rewrite Q in X2; symmetry in X2; now apply Z.eqb_eq in X2). rewrite X1. f_equal. rewrite S2. now apply sign_nonzero.
    + intros Nz. unfold S. now destruct (Z.eqb_spec n2 0).
  - assert (CT : counted ct (after_sum d q) v n2 u2).
    { constructor; cbn [after_sum size no_size Finish.down unit fused_sum]; try reflexivity. cbn [value unit_term]. unfold u2. lia. }
    assert (AB : Z.abs n2 <= bound (after_sum d q)) by (cbn [after_sum bound fused_sum]; fold n2 in NB; lia).
    pose proof (kept_is ct c (last_ending q) (after_sum d q) v OE KC SOL NE _ _ CT AB K2) as KF.
    constructor; auto.
    + unfold T, S. cbn [after_sum sum_sign]. unfold after_sign. fold C. cbn [truth]. rewrite truth_iff, truth_constant. fold m. unfold n_zero, n_term. cbn [truth value]. fold n1 n2.
      change (sg (width_in m (total_node (first q))) (v (total_node (first q)))) with n1. change (sg (width_in m (total_node (leads q))) (v (total_node (leads q)))) with n2. cbn [num_in neg].
      destruct (n2 =? 0); cbn [negb andb orb]; [|now rewrite orb_false_r].
      destruct (n1 =? 0); cbn [andb]; [|cbn [negb andb orb]; unfold c; now destruct (rho (out d))].
      fold m. destruct (truth m v (sum_sign_formula d (first q))), (v (sign C) =? 1); cbn [Bool.eqb negb andb orb]; try reflexivity; unfold c; now destruct (rho (out d)).
    + intros TI Nz R. exact (tiny_direct ct c (last_ending q) (after_sum d q) v OE KC SOL NE _ _ CT AB K2 TI Nz R).
Qed.

Theorem after_sound : same_val (after_value d (map (val_in v) (numbers_of (first q))) (val_in v C)) (val_in v (outcome (last_ending q))).
Proof.
  destruct after_parts as [O1 [O2 [OE _]]].
  assert (OC : Forall (holds ct) (outcome_claims c (last_ending q) (after_sum d q))).
  { unfold after_claims in CL. rewrite !Forall_app in CL. tauto. }
  destruct (special_values m v d (numbers_of (first q) ++ [C])) as [SN [SI FI]].
  assert (EV : forall w, numbers (map (val_in v) (numbers_of (first q) ++ [C])) = None -> sum_values d (map (val_in v) (numbers_of (first q) ++ [C])) = w -> after_value d (map (val_in v) (numbers_of (first q))) (val_in v C) = w).
  { intros w N E. unfold after_value, on_numbers, sum_values in *. rewrite map_app in N, E. cbn [map] in N, E. rewrite N in *. exact E. }
  assert (DEC : numbers (map (val_in v) (numbers_of (first q) ++ [C])) = None \/ Forall (fun r => T (finite r) = true) (numbers_of (first q) ++ [C])).
  { unfold numbers. destruct (forallb is_num (map (val_in v) (numbers_of (first q) ++ [C]))) eqn:Q; [right|now left]. rewrite forallb_forall in Q. apply Forall_forall. intros r I.
    specialize (Q _ (in_map (val_in v) _ _ I)). apply (truth_finite m v). unfold val_in in *. destruct (v (nan r) =? 1); [easy|]. now destruct (v (inf r) =? 1). }
  assert (FV : Forall (fun r => T (finite r) = true) (numbers_of (first q) ++ [C]) -> after_value d (map (val_in v) (numbers_of (first q))) (val_in v C) = after_numbers d (map (num_in v) (numbers_of (first q))) (num_in v C)).
  { intros F. rewrite Forall_app in F. destruct F as [F1 F2]. apply Forall_inv in F2. apply (truth_finite m v) in F2. rewrite F2.
    assert (E : map (val_in v) (numbers_of (first q)) = map Num (map (num_in v) (numbers_of (first q)))).
    { rewrite map_map. apply map_ext_in. intros r I. rewrite Forall_forall in F1. apply (truth_finite m v). auto. }
    rewrite E. unfold after_value, on_numbers. replace (map Num (map (num_in v) (numbers_of (first q))) ++ [Num (num_in v C)]) with (map Num (map (num_in v) (numbers_of (first q)) ++ [num_in v C])) by (now rewrite map_app).
    rewrite numbers_map. rewrite map_map. cbn [num_of]. f_equal. now rewrite map_id. }
  assert (NF : T (is_nan (after_sum d q)) = true \/ T (is_inf (after_sum d q)) = true -> Forall (fun r => T (finite r) = true) (numbers_of (first q) ++ [C]) -> False).
  { intros H F. rewrite Forall_forall in F. assert (Z0 : forall r, In r (numbers_of (first q) ++ [C]) -> (v (nan r) =? 1) = false /\ (v (inf r) =? 1) = false).
    { intros r I. specialize (F r I). unfold T, finite in F. cbn [truth] in F. apply andb_prop in F. destruct F as [F1 F2]. apply negb_true_iff in F1, F2. auto. }
    unfold T, is_nan, is_inf, plus_inf, minus_inf in H. cbn [after_sum operands truth] in H. fold C in H. rewrite !truth_any, !existsb_map in H. cbn [truth] in H.
    rewrite !orb_true_iff, !andb_true_iff, !existsb_exists in H.
    destruct H as [[[r [I H]]|[[r [I H]] _]]|[[r [I H]]|[r [I H]]]]; destruct (Z0 r I) as [A B]; try (apply andb_prop in H; destruct H as [H _]); congruence. }
  apply (finish ct c (last_ending q) (after_sum d q) v OE OC SOL).
  - intros H. destruct DEC as [N|F]; [|exfalso; now apply NF; auto]. apply EV; auto.
  - intros A B. destruct DEC as [N|F]; [|exfalso; now apply NF; auto]. apply EV; auto.
  - intros A B. destruct (FI A B) as [F _]. rewrite (FV F). rewrite Forall_app in F. destruct F as [F1 F2]. apply after_finite; auto. now apply Forall_inv in F2.
Qed.

Lemma after_usual : (v (nan (outcome (last_ending q))) =? 1) = false -> (v (inf (outcome (last_ending q))) =? 1) = false ->
  forallb T (usual c (last_ending q) (after_sum d q)) = true.
Proof.
  intros N I. destruct after_parts as [O1 [O2 [OE _]]].
  assert (OC : Forall (holds ct) (outcome_claims c (last_ending q) (after_sum d q))).
  { unfold after_claims in CL. rewrite !Forall_app in CL. tauto. }
  destruct (inf_not_num ct c (last_ending q) (after_sum d q) v OC SOL N I) as [A B].
  destruct (special_values m v d (numbers_of (first q) ++ [C])) as [_ [_ FI]]. destruct (FI A B) as [F _]. rewrite Forall_app in F. destruct F as [F1 F2].
  destruct (after_finite F1 ltac:(now apply Forall_inv in F2)) as [s [n [u [_ FN]]]]. exact (usual_is ct c (last_ending q) (after_sum d q) v s n u A B FN).
Qed.
End Sound.
